// Tests jobs that reach the accelerator through a device's user-mode queues: results, bytes, time, errors, reset.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "models/common/host/worker_threads.h"
#include "models/sida/machine/pass_shapes.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "platform/sida/application_job.h"
#include "tests/sida/sida_gpu.h"

namespace lacuna::test {
namespace {

GpuDeviceParameters untimed() {
  GpuDeviceParameters p = sida_gpu();
  p.gpu.timing = TimingMode::functional;
  return p;
}

GpuDeviceParameters with_tlb(SidaPath path) {
  GpuDeviceParameters p = sida_gpu(path);
  p.gpu.translation = Translation::tlb;
  return p;
}

GpuDeviceParameters each_pass_in_detail() {
  GpuDeviceParameters p = sida_gpu();
  p.extensions.get<SidaParameterSet>().sida.passes = SidaPasses::detailed;
  return p;
}

constexpr Cycles kPhase{12'345};
GpuDeviceParameters starting_later() {
  GpuDeviceParameters p = sida_gpu();
  p.extensions.get<SidaParameterSet>().sida.start_phase = kPhase;
  return p;
}

GpuDeviceParameters of_few_lines() {
  GpuDeviceParameters p = with_tlb(SidaPath::fabric);
  AcceleratorParameters& sida = p.extensions.get<SidaParameterSet>().sida;
  sida.lines_in_flight = 3;
  sida.passes = SidaPasses::detailed;
  return p;
}

GpuDeviceParameters on_a_mesh() {
  GpuDeviceParameters p = sida_gpu(SidaPath::l2);
  p.noc.topology = FabricTopology::mesh;
  p.noc.columns = 6;
  p.noc.routers = RouterModel::stepped;
  return p;
}

/// The device of sida_gpu() without the accelerator.
GpuDeviceParameters absent(SidaPath path) {
  GpuDeviceParameters p = sida_gpu(path);
  p.extensions.get<SidaParameterSet>().sida.present = false;
  return p;
}

struct SidaBench : sc_core::sc_module {
  explicit SidaBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  WorkerThreads two{2}, four{4};
  TestGpu fabric{"fabric", sida_gpu(SidaPath::fabric)}, l2{"l2", sida_gpu(SidaPath::l2)}, functional{"functional", untimed()};
  TestGpu tlb{"tlb", with_tlb(SidaPath::fabric)}, mesh{"mesh", on_a_mesh()}, none{"none", absent(SidaPath::fabric)};
  TestGpu detailed{"detailed", each_pass_in_detail()}, later{"later", starting_later()};
  TestGpu few{"few", of_few_lines()};
  TestGpu fabric_two{"fabric_two", sida_gpu(SidaPath::fabric), &two},
      fabric_four{"fabric_four", sida_gpu(SidaPath::fabric), &four};
  TestGpu l2_two{"l2_two", sida_gpu(SidaPath::l2), &two}, dram{"dram", sida_gpu(SidaPath::dram)};
};

LACUNA_TEST_BENCH(SidaBench)

class SidaDevice : public testing::Test {
 protected:
  SidaBench& b_ = bench<SidaBench>();
  const sida::SparseMatrix graph_ = sida::generated("power:rows=600,entries=5000");
};

constexpr unsigned kLoads = 96, kStreamed = kLoads * 256;
/// A kernel each of whose workgroups reads kStreamed bytes that no other workgroup reads.
AssembledKernel streaming() {
  std::vector<std::string> lines{"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                 "s_waitcnt lgkmcnt(0)",
                                 "s_mul_i32 s6, s2, " + std::to_string(kStreamed),
                                 "s_add_u32 s4, s4, s6",
                                 "s_addc_u32 s5, s5, 0",
                                 "v_lshlrev_b32_e32 v1, 2, v0",
                                 "v_mov_b32_e32 v3, s5",
                                 "ADD_co_u32 v2, s4, v1",
                                 "ADDC_co_u32 v3, 0, v3"};
  for (unsigned i = 0; i < kLoads; ++i) {
    lines.push_back("LOAD v" + std::to_string(4 + i % 16) + ", v[2:3]");
    lines.emplace_back("ADD_co_u32 v2, 0x100, v2");
    lines.emplace_back("ADDC_co_u32 v3, 0, v3");
  }
  lines.emplace_back("s_waitcnt vmcnt(0)");
  return {isa::Target::gfx803, lines};
}
constexpr std::uint64_t kStream = 6 << 20;  ///< offset in VRAM of the data that the kernel reads
constexpr unsigned kStreams = 48;

/// Runs a job and returns its traffic, and its time in the accelerator ("sida.time").
Counts run(TestGpu& gpu, DeviceApplication& application) {
  gpu.mark();
  application.submit();
  gpu.finish();
  return gpu.growth();
}

TEST_F(SidaDevice, EveryApplicationComputesItsReference) {
  const sida::SparseMatrix mesh = sida::generated("mesh2d:rows=400");
  for (TestGpu* const gpu : {&b_.fabric, &b_.l2, &b_.dram, &b_.functional, &b_.tlb, &b_.mesh}) {
    for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) {
      gpu->start();
      const bool solver = std::string(a->name) == "cg";
      DeviceApplication application(*gpu, a->name, solver ? mesh : graph_, {.limit = 3});
      application.submit();
      gpu->finish();
      application.expect_right(a->name);
      EXPECT_EQ(gpu->reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_IDLE);
      EXPECT_EQ(gpu->reg(LACUNA_GPU_SIDA_JOBS), 1U);
    }
  }
}

// Bytes of each kind equal those of the pipeline with an ideal memory, and fit into the requested lines.
TEST_F(SidaDevice, MovesTheBytesOfThePipelineAlone) {
  const AcceleratorParameters parameters = sida_gpu().extensions.get<SidaParameterSet>().sida;
  for (const bool blocked : {false, true}) {
    const ApplicationOptions options{.blocked = blocked, .block_side = 64, .limit = 4};
    ApplicationJob job(*lacuna_sida_application_named("pr"), graph_, options);
    std::array<std::uint64_t, sida::kMemoryKinds> read{}, written{};
    const sida::SparseMatrix rows = transposed(graph_);
    const sida::MatrixOrders orders{{graph_.offsets, graph_.indices}, {rows.offsets, rows.indices}};
    job.run([&](const sida::Program& program, const sida::PassOutcome& outcome) {
      const sida::Pass& pass = program.passes[outcome.pass];
      if (pass.has_os() ? !outcome.has_os : program.elements(pass, sida::Phase::ewise) == 0) return;
      sida::IdealMemory memory;
      sida::PassPipeline pipeline(shape_of(program, pass, outcome, orders), parameters.machine.pipeline(), memory);
      pipeline.run();
      for (std::size_t kind = 0; kind < sida::kMemoryKinds; ++kind) {
        read[kind] += pipeline.counts().read_bytes[kind];
        written[kind] += pipeline.counts().written_bytes[kind];
      }
    });
    for (TestGpu* const gpu : {&b_.fabric, &b_.l2, &b_.dram, &b_.tlb}) {
      gpu->start();
      DeviceApplication application(*gpu, "pr", graph_, options);
      const Counts moved = run(*gpu, application);
      std::uint64_t bytes = 0;
      for (std::size_t kind = 0; kind < sida::kMemoryKinds; ++kind) {
        EXPECT_EQ(moved.at("sida.read." + std::string(sida::kMemoryKindNames[kind])), read[kind]) << kind;
        EXPECT_EQ(moved.at("sida.written." + std::string(sida::kMemoryKindNames[kind])), written[kind]) << kind;
        bytes += read[kind] + written[kind];
      }
      EXPECT_GE((moved.at("sida.lines_read") + moved.at("sida.lines_written")) * 128, bytes);
      EXPECT_GT(moved.at("sida.time"), 0U);
      // With the path `dram`, every line bypasses L2.
      std::uint64_t past = 0;
      for (unsigned bank = 0; bank < 4; ++bank) past += moved.at("l2_" + std::to_string(bank) + ".bypasses");
      EXPECT_EQ(past, gpu == &b_.dram ? moved.at("sida.lines_read") + moved.at("sida.lines_written") : 0U);
    }
  }
}

TEST_F(SidaDevice, RepeatsItselfOnAnyNumberOfThreadsAndAfterAReset) {
  const auto beside_a_kernel = [this](TestGpu& gpu) {
    gpu.start();
    DeviceApplication application(gpu, "pr", graph_, {.limit = 4});
    gpu.mark();
    gpu.dispatch(streaming(), {TestGpu::kBase + kStream}, kStreams);
    application.submit();
    gpu.finish();
    application.expect_right("beside a kernel");
    return gpu.growth();
  };
  const Counts once = beside_a_kernel(b_.fabric);
  EXPECT_EQ(difference(once, beside_a_kernel(b_.fabric)), "");
  EXPECT_EQ(difference(once, beside_a_kernel(b_.fabric_two)), "");
  EXPECT_EQ(difference(once, beside_a_kernel(b_.fabric_four)), "");
  EXPECT_EQ(difference(beside_a_kernel(b_.l2), beside_a_kernel(b_.l2_two)), "");
  for (const unsigned microseconds : {1U, 2U, 5U, 9U}) {
    b_.fabric.start();
    DeviceApplication dropped(b_.fabric, "pr", graph_, {.limit = 40});
    dropped.submit();
    wait_for(Tick{1'000'000} * microseconds);
    EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_BUSY) << microseconds;
    b_.fabric.reset();
    EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_IDLE);
    EXPECT_EQ(difference(beside_a_kernel(b_.fabric), once), "") << "after a reset at " << microseconds << " us";
  }
}

// Nothing is written for the job after its queue has been destroyed.
TEST_F(SidaDevice, DestroyingItsQueueEndsAJob) {
  for (const unsigned microseconds : {0U, 1U, 3U, 8U}) {
    b_.fabric.start();
    DeviceApplication application(b_.fabric, "pr", graph_, {.limit = 40});
    application.submit();
    wait_for(Tick{1'000'000} * microseconds + Tick{300'000});
    b_.fabric.device.packet_processor().destroy_queue(0);
    const std::vector<std::uint32_t> left = b_.fabric.memory(TestGpu::kData, 1 << 20);
    wait_for(Tick{50'000'000});
    EXPECT_EQ(b_.fabric.memory(TestGpu::kData, 1 << 20), left) << microseconds;
    EXPECT_TRUE(b_.fabric.device.idle()) << b_.fabric.diagnosis();
    // The next job runs normally.
    b_.fabric.create_queue();
    DeviceApplication next(b_.fabric, "bfs", graph_, {.limit = 4});
    next.submit();
    b_.fabric.finish();
    next.expect_right("after the queue of another job was destroyed");
  }
}

TEST_F(SidaDevice, IdleAcceleratorDoesNotAffectKernels) {
  const auto cycles = [](TestGpu& gpu) {
    gpu.start();
    gpu.mark();
    return gpu.run(streaming(), {TestGpu::kBase + kStream}, kStreams).cycles;
  };
  EXPECT_EQ(cycles(b_.none), cycles(b_.fabric));
  EXPECT_EQ(cycles(b_.none), cycles(b_.l2));
  EXPECT_EQ(cycles(b_.none), cycles(b_.dram));
}

// A job and a kernel take longer together than alone, and do not exceed the bandwidth of DRAM.
TEST_F(SidaDevice, SharesTheMemoryWithKernels) {
  struct Times {
    std::uint64_t kernel, job;
  };
  const GpuDeviceParameters parameters = sida_gpu();
  const Clock dram_clock(parameters.dram.clock);
  for (TestGpu* const gpu : {&b_.fabric, &b_.l2, &b_.dram}) {
    const auto time = [&](bool kernel, bool job) {
      gpu->start();
      DeviceApplication application(*gpu, "pr", graph_, {.limit = 4});
      gpu->mark();
      const Tick began = kernel_time();
      if (kernel) gpu->dispatch(streaming(), {TestGpu::kBase + kStream}, kStreams);
      if (job) application.submit();
      gpu->finish();
      const Counts counts = gpu->growth();
      std::uint64_t bytes = 0;
      for (unsigned channel = 0; channel < parameters.gpu.memory_partitions; ++channel) {
        const std::string name = "dram" + std::to_string(channel);
        bytes += counts.at(name + ".bytes_read") + counts.at(name + ".bytes_written");
      }
      const std::uint64_t most =
          dram_clock.ceil(kernel_time() - began).n * parameters.dram.bytes_per_cycle * parameters.gpu.memory_partitions;
      EXPECT_GT(bytes, 0U);
      EXPECT_LE(bytes, most);
      return Times{kernel ? gpu->records.back().cycles : 0, counts.at("sida.time")};
    };
    const Times both = time(true, true);
    EXPECT_GT(both.kernel, time(true, false).kernel);
    EXPECT_GT(both.job, time(false, true).job);
  }
}

// sida.passes = bulk: each pass makes two hops. The first two passes are executed in detail; all further passes are charged the
// time and requests of the second pass.
TEST_F(SidaDevice, RepeatedPassesTakeTheTimeOfTheFirst) {
  const auto iterations = [this](TestGpu& gpu, std::uint32_t limit) {
    gpu.start();
    DeviceApplication application(gpu, "knn", graph_, {.limit = limit});
    const Counts counts = run(gpu, application);
    application.expect_right("of " + std::to_string(limit) + " hops");
    return counts;
  };
  const Counts two = iterations(b_.fabric, 2), four = iterations(b_.fabric, 4), ten = iterations(b_.fabric, 10),
               twelve = iterations(b_.fabric, 12), detailed = iterations(b_.detailed, 12);
  EXPECT_EQ(four.at("sida.passes_in_bulk"), 0U);
  EXPECT_EQ(twelve.at("sida.passes"), 6U);
  EXPECT_EQ(twelve.at("sida.passes_in_bulk"), 4U);
  EXPECT_EQ(detailed.at("sida.passes_in_bulk"), 0U);
  EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_STEP), b_.detailed.reg(LACUNA_GPU_SIDA_STEP));
  std::vector<std::string> counts{"cycles", "lines_read", "lines_written", "waiting", "translation", "steps"};
  for (const char* const kind : sida::kMemoryKindNames) {
    for (const char* const way : {"read.", "written."}) {
      counts.push_back(std::string(way) + kind);
      EXPECT_EQ(twelve.at("sida." + counts.back()), detailed.at("sida." + counts.back())) << counts.back();
    }
  }
  for (std::string count : counts) {
    count = "sida." + count;
    EXPECT_EQ(twelve.at(count) - ten.at(count), four.at(count) - two.at(count)) << count;
  }
  const auto cycles = [](const Counts& c) { return static_cast<double>(c.at("sida.cycles")); };
  EXPECT_NEAR(cycles(twelve), cycles(detailed), 0.1 * cycles(detailed));
}

// A kernel that begins in the middle of a pass in bulk shares the memory with the rest of the pass.
TEST_F(SidaDevice, AKernelEndsPassesInBulk) {
  std::uint64_t alone = 0;
  const auto with_a_kernel_after = [&](TestGpu& gpu, Tick at) {
    gpu.start();
    DeviceApplication application(gpu, "pr", graph_, {.limit = 40});
    gpu.mark();
    application.submit();
    if (at != Tick{}) {
      wait_for(at);
      EXPECT_EQ(gpu.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_BUSY);
      gpu.dispatch(streaming(), {TestGpu::kBase + kStream}, kStreams);
    }
    gpu.finish();
    application.expect_right("with a kernel");
    if (at != Tick{}) {
      EXPECT_GT(gpu.records.back().cycles, alone);
    }
    return gpu.growth();
  };
  b_.none.start();
  alone = b_.none.run(streaming(), {TestGpu::kBase + kStream}, kStreams).cycles;
  const Counts undisturbed = with_a_kernel_after(b_.fabric, Tick{});
  EXPECT_GT(undisturbed.at("sida.passes_in_bulk"), 10U);
  for (const unsigned nanoseconds : {4000U, 7300U, 9100U, 12700U, 15500U}) {
    const Tick at = Tick{1'000} * nanoseconds;
    const Counts once = with_a_kernel_after(b_.fabric, at);
    EXPECT_GT(once.at("sida.passes_in_bulk"), 0U) << nanoseconds;
    EXPECT_LT(once.at("sida.passes_in_bulk"), undisturbed.at("sida.passes_in_bulk")) << nanoseconds;
    EXPECT_GT(once.at("sida.cycles"), undisturbed.at("sida.cycles")) << nanoseconds;
    for (const char* const kind : sida::kMemoryKindNames) {
      const std::string read = std::string("sida.read.") + kind;
      EXPECT_EQ(once.at(read), undisturbed.at(read)) << nanoseconds;
    }
    EXPECT_EQ(difference(once, with_a_kernel_after(b_.fabric, at)), "");
    EXPECT_EQ(difference(once, with_a_kernel_after(b_.fabric_two, at)), "");
    EXPECT_EQ(difference(once, with_a_kernel_after(b_.fabric_four, at)), "");
  }
}

// With few lines in flight at each port, a job takes longer and requests the same lines, also beside a kernel and after a reset
// in the middle of a pass.
TEST_F(SidaDevice, LinesWaitForPortsThatAreFull) {
  const auto moved = [this](TestGpu& gpu, bool kernel) {
    gpu.start();
    DeviceApplication application(gpu, "pr", graph_, {.limit = 4});
    gpu.mark();
    if (kernel) gpu.dispatch(streaming(), {TestGpu::kBase + kStream}, kStreams);
    application.submit();
    gpu.finish();
    application.expect_right("with few lines in flight");
    return gpu.growth();
  };
  const Counts all = moved(b_.tlb, false);
  const auto expect_more_time = [&all](const Counts& few, const std::string& what) {
    for (const char* const count : {"lines_read", "lines_written", "read.csc", "read.x", "written.outputs"})
      EXPECT_EQ(few.at(std::string("sida.") + count), all.at(std::string("sida.") + count)) << count << ' ' << what;
    EXPECT_GT(few.at("sida.time"), all.at("sida.time") * 3 / 2) << what;
  };
  expect_more_time(moved(b_.few, false), "alone");
  expect_more_time(moved(b_.few, true), "beside a kernel");
  for (const unsigned nanoseconds : {700U, 3100U}) {
    b_.few.start();
    DeviceApplication dropped(b_.few, "pr", graph_, {.limit = 40});
    dropped.submit();
    wait_for(Tick{1'000} * nanoseconds);
    b_.few.reset();
    expect_more_time(moved(b_.few, false), "after a reset");
  }
}

// A job is recorded with its passes and the addresses of its arrays. With sida.start_phase it starts later and is otherwise the
// same.
TEST_F(SidaDevice, RecordsJobsWithPassesAndArrays) {
  const auto recorded = [this](TestGpu& gpu) {
    gpu.start();
    const DeviceApplication application(gpu, "pr", graph_, {.limit = 6});
    Accelerator& accelerator = gpu.device.extension<SidaExtension>()->accelerator();
    std::vector<SidaJobRecord> jobs;
    std::vector<SidaPassRecord> passes;
    accelerator.observe_jobs([&jobs](const SidaJobRecord& job) { jobs.push_back(job); });
    accelerator.observe_passes([&passes](const SidaPassRecord& pass) { passes.push_back(pass); });
    const Tick submitted = kernel_time();
    gpu.submit(application.packet());
    gpu.finish();
    accelerator.observe_jobs({});
    accelerator.observe_passes({});
    EXPECT_EQ(jobs.size(), 1U);
    SidaJobRecord job = jobs.at(0);
    job.began -= submitted;
    job.ended -= submitted;

    EXPECT_EQ(passes.size(), job.passes);
    std::uint64_t cycles = 0, products = 0, in_bulk = 0;
    for (const SidaPassRecord& pass : passes) {
      EXPECT_EQ(pass.job, job.number);
      EXPECT_EQ(pass.iteration, products);  // each product ends an iteration
      cycles += pass.counts.cycles;
      products += pass.products;
      in_bulk += pass.in_bulk ? 1 : 0;
    }
    EXPECT_EQ(cycles, job.sums.cycles);
    EXPECT_EQ(products, 6U);
    EXPECT_EQ(in_bulk, job.passes_in_bulk);

    const lacuna_sida_matrix& matrix = application.image().stored().front();
    const SidaJobArray &first = job.arrays.at(0), &values = job.arrays.at(5), &last = job.arrays.back();
    EXPECT_EQ(first.name, "matrix0.by_columns.offsets");
    EXPECT_EQ(first.address, matrix.by_columns.offsets);
    EXPECT_EQ(first.bus_address - LACUNA_VRAM_BASE, first.address - TestGpu::kBase);
    EXPECT_EQ(first.bytes, (graph_.columns + 1) * sizeof(std::uint32_t));
    EXPECT_EQ(values.name, "matrix0.by_rows.values");
    EXPECT_EQ(values.address, matrix.by_rows.values);
    EXPECT_EQ(values.bytes, graph_.entries() * sizeof(double));
    EXPECT_EQ(last.name, "program");
    EXPECT_EQ(last.address, application.image().program());
    return job;
  };
  const SidaJobRecord job = recorded(b_.fabric), later = recorded(b_.later);
  EXPECT_EQ(later.began - job.began, Clock(sida_gpu().gpu.core_clock).ticks(kPhase));
  EXPECT_EQ(later.ended - later.began, job.ended - job.began);
  EXPECT_EQ(later.sums.cycles, job.sums.cycles);
}

TEST_F(SidaDevice, ErrorsStopTheirQueue) {
  struct Case {
    const char* what;
    std::uint32_t error;
    std::function<void(DeviceApplication&, lacuna_sida_packet&)> spoil;
  };
  const std::vector<Case> cases{
      {"no program", 0, [](DeviceApplication&, lacuna_sida_packet& p) { p.program = 0; }},
      {"misaligned", 0, [](DeviceApplication&, lacuna_sida_packet& p) { p.program += 8; }},
      {"reserved", 0, [](DeviceApplication&, lacuna_sida_packet& p) { p.reserved2[3] = 1; }},
      {"unmapped", LACUNA_SIDA_ERROR_ADDRESS, [](DeviceApplication&, lacuna_sida_packet& p) { p.program = 0x7000'0000'0000; }},
      {"magic", LACUNA_SIDA_ERROR_MAGIC, [](DeviceApplication& a, lacuna_sida_packet&) { a.header().magic ^= 1; }},
      {"limit", LACUNA_SIDA_ERROR_LOOP, [](DeviceApplication& a, lacuna_sida_packet&) { a.header().limit = 0; }},
      {"rows", LACUNA_SIDA_ERROR_ORDERS,
       [this](DeviceApplication& a, lacuna_sida_packet&) {
         // Changes the column of a row's last entry in the order by rows, but not in the order by columns.
         std::uint32_t* const row = b_.fabric.words(a.image().stored().front().by_rows.coordinates - TestGpu::kBase);
         std::uint32_t last = 0;
         while (row[last + 1] > row[last]) ++last;
         row[last] += row[last] + 1 < graph_.columns ? 1U : ~0U;
       }},
  };
  for (const Case& c : cases) {
    clear_guest_mistakes();
    b_.fabric.start();
    DeviceApplication application(b_.fabric, "pr", graph_, {.limit = 2});
    lacuna_sida_packet packet = application.packet();
    c.spoil(application, packet);
    b_.fabric.submit(packet);
    wait_for(Tick{100'000'000});
    EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_QUEUE_STATUS), LACUNA_QUEUE_FAILED) << c.what;
    EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_QUEUE_ERROR), LACUNA_QUEUE_ERROR_SIDA) << c.what;
    EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_ERROR), c.error) << c.what;
    b_.fabric.destroy_queue();
    b_.fabric.create_queue();
    DeviceApplication next(b_.fabric, "pr", graph_, {.limit = 2});
    next.submit();
    b_.fabric.finish();
    next.expect_right("after a mistake");
  }
  clear_guest_mistakes();
}

TEST_F(SidaDevice, SuspendedQueuesHoldTheirJobs) {
  b_.fabric.start();
  DeviceApplication first(b_.fabric, "pr", graph_, {.limit = 6}), second(b_.fabric, "bfs", graph_, {.limit = 6}, 4 << 20);
  first.submit();
  second.submit();
  wait_for(Tick{2'000'000});
  b_.fabric.device.packet_processor().suspend_queue(0);
  wait_for(Tick{100'000'000});
  EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_JOBS), 1U);
  EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_IDLE);
  b_.fabric.device.packet_processor().resume_queue(0);
  b_.fabric.finish();
  EXPECT_EQ(b_.fabric.reg(LACUNA_GPU_SIDA_JOBS), 2U);
  first.expect_right("begun before");
  second.expect_right("held");
}

}  // namespace
}  // namespace lacuna::test
