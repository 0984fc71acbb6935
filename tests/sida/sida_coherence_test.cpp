// Tests jobs next to other users of memory that they do not share caches with: dirty and stale lines of L2 when a job bypasses
// L2, and copies of an SDMA engine during passes in bulk.
#include <string>
#include <vector>

#include "tests/sida/sida_gpu.h"

namespace lacuna::test {
namespace {

GpuDeviceParameters each_pass_in_detail() {
  GpuDeviceParameters p = sida_gpu();
  p.extensions.get<SidaParameterSet>().sida.passes = SidaPasses::detailed;
  return p;
}

struct CoherenceBench : sc_core::sc_module {
  explicit CoherenceBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  WorkerThreads two{2};
  TestGpu fabric{"fabric", sida_gpu(SidaPath::fabric)}, l2{"l2", sida_gpu(SidaPath::l2)},
      dram{"dram", sida_gpu(SidaPath::dram)};
  TestGpu fabric_two{"fabric_two", sida_gpu(SidaPath::fabric), &two}, detailed{"detailed", each_pass_in_detail()};
};

LACUNA_TEST_BENCH(CoherenceBench)

constexpr hsa::PacketHeader header(hsa::PacketType type, hsa::FenceScope scope) {
  const auto fence = static_cast<unsigned>(scope);
  return {static_cast<std::uint16_t>(static_cast<unsigned>(type) | 1U << 8 | fence << 9 | fence << 11)};
}

class SidaCoherence : public testing::Test {
 protected:
  CoherenceBench& b_ = bench<CoherenceBench>();
  const sida::SparseMatrix graph_ = sida::generated("power:rows=600,entries=5000");

  /// Starts a device whose kernels have fences of agent scope, which leave L2 as it is.
  static void start(TestGpu& gpu) {
    gpu.start();
    gpu.kernel_header = header(hsa::PacketType::kernel_dispatch, hsa::FenceScope::agent);
  }
  static void submit(TestGpu& gpu, const DeviceApplication& application, hsa::FenceScope scope) {
    lacuna_sida_packet packet = application.packet();
    packet.header = header(hsa::PacketType::vendor_specific, scope).bits;
    gpu.submit(packet);
  }
};

constexpr unsigned kAccesses = 16, kAccessed = kAccesses * 256;
/// A kernel each of whose workgroups reads or writes kAccessed bytes that no other workgroup accesses.
AssembledKernel accessing(const char* access) {
  std::vector<std::string> lines{"s_load_dwordx2 s[4:5], s[0:1], 0x0",
                                 "s_waitcnt lgkmcnt(0)",
                                 "s_mul_i32 s6, s2, " + std::to_string(kAccessed),
                                 "s_add_u32 s4, s4, s6",
                                 "s_addc_u32 s5, s5, 0",
                                 "v_lshlrev_b32_e32 v1, 2, v0",
                                 "v_mov_b32_e32 v3, s5",
                                 "ADD_co_u32 v2, s4, v1",
                                 "ADDC_co_u32 v3, 0, v3"};
  for (unsigned i = 0; i < kAccesses; ++i) {
    lines.emplace_back(access);
    lines.emplace_back("ADD_co_u32 v2, 0x100, v2");
    lines.emplace_back("ADDC_co_u32 v3, 0, v3");
  }
  lines.emplace_back("s_waitcnt vmcnt(0)");
  return {isa::Target::gfx803, lines};
}
AssembledKernel reading() { return accessing("LOAD v4, v[2:3]"); }
AssembledKernel writing() { return accessing("STORE v[2:3], v1"); }

constexpr std::uint64_t kRange = 6 << 20;  ///< offset in VRAM of the data that the kernels access
constexpr unsigned kWorkgroups = 32;
constexpr std::uint64_t kLines = std::uint64_t{kWorkgroups} * kAccessed / 128;

/// Sum of a counter of all L2 banks or DRAM channels.
std::uint64_t of_all(const Counts& counts, const std::string& unit, const char* counter) {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += counts.at(unit + std::to_string(i) + '.' + counter);
  return sum;
}

// A job that bypasses L2 would read data in DRAM that kernels have only written to L2. Its acquire fence writes back L2, before
// the job begins.
TEST_F(SidaCoherence, DirtyLinesAreWrittenBackBeforeAJobThatBypassesL2) {
  struct Outcome {
    std::uint64_t before_the_job, until_its_end, bytes_written;
    Tick until_the_job{};
  };
  const auto after_a_kernel = [this](TestGpu& gpu, bool dirty, hsa::FenceScope scope) {
    start(gpu);
    const DeviceApplication application(gpu, "pr", graph_, {.limit = 4});
    gpu.run(dirty ? writing() : reading(), {TestGpu::kBase + kRange}, kWorkgroups);
    gpu.mark();
    const Tick submitted = kernel_time();
    submit(gpu, application, scope);
    for (int i = 0; i < 1000 && gpu.reg(LACUNA_GPU_SIDA_STATE) != LACUNA_SIDA_BUSY; ++i) wait_for(Tick{10'000});
    EXPECT_EQ(gpu.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_BUSY);
    Outcome outcome{.before_the_job = of_all(gpu.growth(), "l2_", "write_backs"),
                    .until_its_end = 0,
                    .bytes_written = 0,
                    .until_the_job = kernel_time() - submitted};
    gpu.finish();
    application.expect_right("after a kernel");
    const Counts counts = gpu.growth();
    outcome.until_its_end = of_all(counts, "l2_", "write_backs");
    outcome.bytes_written = of_all(counts, "dram", "bytes_written") - 128 * counts.at("sida.lines_written");
    return outcome;
  };
  const Outcome clean = after_a_kernel(b_.dram, false, hsa::FenceScope::agent);
  EXPECT_LE(clean.until_its_end, 1U);  // the completion signal of the kernel
  for (const hsa::FenceScope scope : {hsa::FenceScope::agent, hsa::FenceScope::system}) {
    const Outcome dirty = after_a_kernel(b_.dram, true, scope);
    EXPECT_EQ(dirty.before_the_job, clean.before_the_job + kLines);
    EXPECT_EQ(dirty.until_its_end, clean.until_its_end + kLines);
    EXPECT_EQ(dirty.bytes_written, clean.bytes_written + kLines * 128);
    // Each DRAM channel takes 4 cycles of 1 ns for a line of 128 bytes; the fence ends when the last lines have been accepted.
    EXPECT_GE(dirty.until_the_job, clean.until_the_job + Tick{kLines / 4 * 4 * 900});
  }
  // Without an acquire fence, or through L2, nothing is written back.
  EXPECT_EQ(after_a_kernel(b_.dram, true, hsa::FenceScope::none).until_its_end, 0U);
  for (TestGpu* const gpu : {&b_.fabric, &b_.l2})
    EXPECT_EQ(after_a_kernel(*gpu, true, hsa::FenceScope::agent).before_the_job, 0U);
}

// After a job that bypasses L2, lines in L2 may be older than what the job has written; its release fence drops them.
TEST_F(SidaCoherence, LinesAreReadAgainAfterAJobThatBypassesL2) {
  const auto misses_after_a_job = [this](TestGpu& gpu, hsa::FenceScope scope) {
    start(gpu);
    const DeviceApplication application(gpu, "pr", graph_, {.limit = 4});
    const AssembledKernel kernel = reading();
    gpu.run(kernel, {TestGpu::kBase + kRange}, kWorkgroups);
    submit(gpu, application, scope);
    gpu.finish();
    application.expect_right("between two kernels");
    gpu.mark();
    gpu.run(kernel, {TestGpu::kBase + kRange}, kWorkgroups);
    return of_all(gpu.growth(), "l2_", "read_misses");
  };
  EXPECT_GE(misses_after_a_job(b_.dram, hsa::FenceScope::agent), kLines);
  EXPECT_GE(misses_after_a_job(b_.dram, hsa::FenceScope::system), kLines);
  EXPECT_LT(misses_after_a_job(b_.dram, hsa::FenceScope::none), kLines / 8);
  EXPECT_LT(misses_after_a_job(b_.l2, hsa::FenceScope::system), kLines / 8);
}

/// The copy of kCopied bytes by the first SDMA engine, and the fence after it.
class Copy {
 public:
  static constexpr std::uint32_t kCopied = 0x20000;

  /// Creates a queue of the engine. Call it after TestGpu::start().
  explicit Copy(TestGpu& gpu) : gpu_(gpu) {
    const auto queue = engine().create_queue(
        {.ring = TestGpu::kBase + kRing, .ring_bytes = 0x1000, .read_pointer = TestGpu::kBase + kPointer, .name = "copy"});
    EXPECT_TRUE(queue.has_value());
    queue_ = queue.value_or(0);
    gpu_.at<std::uint32_t>(kFence) = 0;
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(TestGpu::kBase + v); };
    const std::vector<std::uint32_t> words{1, kCopied, 0, low(kRange), 0, low(kTarget), 0, 5, low(kFence), 0, 1};  // gfx8
    std::memcpy(&gpu_.at<std::uint32_t>(kRing), words.data(), 4 * words.size());
    written_ = 4 * words.size();
  }
  void begin() { EXPECT_TRUE(engine().ring(queue_, written_)); }
  bool done() { return gpu_.at<std::uint32_t>(kFence) == 1; }
  void expect_right() {
    EXPECT_TRUE(done());
    EXPECT_EQ(gpu_.memory(kTarget, kCopied), gpu_.memory(kRange, kCopied));
  }

 private:
  static constexpr std::uint64_t kRing = 0x8000, kPointer = 0x9000, kFence = 0x9040, kTarget = 0x700000;
  SdmaEngine& engine() { return *gpu_.device.sdma_engines()[0]; }

  TestGpu& gpu_;
  std::uint32_t queue_ = 0;
  std::uint64_t written_ = 0;
};

// A copy that begins in the middle of a pass in bulk ends it: copy and pass share the memory as when all passes are simulated
// in detail, with the same results and bytes.
TEST_F(SidaCoherence, ACopyEndsPassesInBulk) {
  struct Outcome {
    Counts counts;
    Tick copy{};
  };
  const auto with_a_copy_after = [this](TestGpu& gpu, Tick at) {
    gpu.start();
    const DeviceApplication application(gpu, "pr", graph_, {.limit = 60});
    Copy copy(gpu);
    gpu.mark();
    gpu.submit(application.packet());
    Outcome outcome;
    if (at != Tick{}) {
      wait_for(at);
      EXPECT_EQ(gpu.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_BUSY);
      const Tick began = kernel_time();
      copy.begin();
      for (int i = 0; i < 10'000 && !copy.done(); ++i) wait_for(Tick{10'000});
      outcome.copy = kernel_time() - began;
      EXPECT_EQ(gpu.reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_BUSY) << "the copy ends before the job";
    }
    gpu.finish();
    application.expect_right("with a copy");
    if (at != Tick{}) copy.expect_right();
    outcome.counts = gpu.growth();
    return outcome;
  };
  const Counts undisturbed = with_a_copy_after(b_.fabric, Tick{}).counts;
  ASSERT_GT(undisturbed.at("sida.passes_in_bulk"), 10U);
  for (const unsigned nanoseconds : {9100U, 12700U, 15500U}) {
    const Tick at = Tick{1'000} * nanoseconds;
    const Outcome bulk = with_a_copy_after(b_.fabric, at), detailed = with_a_copy_after(b_.detailed, at);
    EXPECT_GT(bulk.counts.at("sida.passes_in_bulk"), 0U) << nanoseconds;
    EXPECT_LT(bulk.counts.at("sida.passes_in_bulk"), undisturbed.at("sida.passes_in_bulk")) << nanoseconds;
    EXPECT_GT(bulk.counts.at("sida.cycles"), undisturbed.at("sida.cycles")) << nanoseconds;
    EXPECT_EQ(detailed.counts.at("sida.passes_in_bulk"), 0U);
    for (const char* const kind : sida::kMemoryKindNames) {
      for (const char* const way : {"sida.read.", "sida.written."})
        EXPECT_EQ(bulk.counts.at(std::string(way) + kind), detailed.counts.at(std::string(way) + kind)) << kind;
    }
    for (const char* const count : {"sida.passes", "sida.steps"})
      EXPECT_EQ(bulk.counts.at(count), detailed.counts.at(count)) << count;
    const auto close = [nanoseconds](auto a, auto b, double share, const char* what) {
      EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b), share * static_cast<double>(b)) << what << nanoseconds;
    };
    // Lines of the part of a pass that ran in bulk are counted in proportion to its bytes.
    for (const char* const lines : {"sida.lines_read", "sida.lines_written"})
      close(bulk.counts.at(lines), detailed.counts.at(lines), 0.01, lines);
    // L2 is in the state of the last pass in detail, so hit rates differ when the copy begins.
    close(bulk.counts.at("sida.cycles"), detailed.counts.at("sida.cycles"), 0.05, "cycles, copy at ");
    close(bulk.copy.ps, detailed.copy.ps, 0.1, "time of a copy at ");
    const Outcome again = with_a_copy_after(b_.fabric, at), on_two_threads = with_a_copy_after(b_.fabric_two, at);
    EXPECT_EQ(difference(bulk.counts, again.counts), "");
    EXPECT_EQ(difference(bulk.counts, on_two_threads.counts), "");
    EXPECT_EQ(bulk.copy, again.copy);
    EXPECT_EQ(bulk.copy, on_two_threads.copy);
  }
}

}  // namespace
}  // namespace lacuna::test
