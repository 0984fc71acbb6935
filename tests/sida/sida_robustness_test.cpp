// Tests jobs in the timed device under bad conditions: the smallest buffer with one port to memory, matrices that change during
// a job, and programs with errors at random places.
#include <array>
#include <cstdlib>
#include <string>

#include "models/common/config/guest_mistake.h"
#include "models/sida/matrix/random.h"
#include "tests/sida/sida_gpu.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kSmallest = 3 * 128 + 12;  ///< a line each of x, x' and sums, and an entry with a value of 8 bytes

GpuDeviceParameters smallest(std::uint64_t sub_tensor) {
  GpuDeviceParameters p = sida_gpu(SidaPath::fabric);
  AcceleratorParameters& sida = p.extensions.get<SidaParameterSet>().sida;
  sida.ports = 1;
  sida.machine.buffer = Bytes{kSmallest};
  sida.machine.control.sub_tensor = sub_tensor;
  return p;
}

struct RobustnessBench : sc_core::sc_module {
  explicit RobustnessBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  TestGpu fabric{"fabric", sida_gpu(SidaPath::fabric)};
  TestGpu one_column{"one_column", smallest(1)}, all_columns{"all_columns", smallest(1000)};
};

LACUNA_TEST_BENCH(RobustnessBench)

class SidaRobustness : public testing::Test {
 protected:
  RobustnessBench& b_ = bench<RobustnessBench>();

  /// Lets time pass until the job has ended or its queue has failed, but at most 200 us. Returns whether the queue has failed.
  static bool failed_at_the_end(TestGpu& gpu) {
    for (int i = 0; i < 200 && !gpu.done() && gpu.reg(LACUNA_GPU_QUEUE_STATUS) != LACUNA_QUEUE_FAILED; ++i)
      wait_for(Tick{1'000'000});
    return gpu.reg(LACUNA_GPU_QUEUE_STATUS) == LACUNA_QUEUE_FAILED;
  }
  /// Expects that the device runs a job correctly after a reset.
  static void expect_works(TestGpu& gpu, const sida::SparseMatrix& matrix, const std::string& what) {
    gpu.start();
    const DeviceApplication application(gpu, "pr", matrix, {.limit = 2});
    gpu.submit(application.packet());
    gpu.finish();
    application.expect_right(what);
  }
};

// No part of the pipeline may wait for space that only a later part frees.
TEST_F(SidaRobustness, TheSmallestBufferAndOnePortDoNotDeadlock) {
  for (const char* const kind : {"power:rows=200,entries=1500", "road:rows=400", "arrow:rows=150,entries=1200"}) {
    const sida::SparseMatrix matrix = sida::generated(kind);
    for (TestGpu* const gpu : {&b_.one_column, &b_.all_columns}) {
      gpu->start();
      const DeviceApplication application(*gpu, "pr", matrix, {.limit = 4});
      gpu->submit(application.packet());
      gpu->finish();
      application.expect_right(kind);
      EXPECT_EQ(gpu->reg(LACUNA_GPU_SIDA_JOBS), 1U) << kind;
    }
  }
}

// The result of the job is undefined, but nothing outside of the matrix is accessed, and the job ends.
TEST_F(SidaRobustness, AMatrixMayChangeDuringAJob) {
  const sida::SparseMatrix matrix = sida::generated("power:rows=600,entries=5000");
  unsigned failures = 0;
  for (const bool blocked : {false, true}) {
    for (const unsigned microseconds : {1U, 3U, 7U}) {
      for (const std::uint32_t word : {~0U, 0U}) {
        clear_guest_mistakes();
        b_.fabric.start();
        const DeviceApplication application(b_.fabric, "pr", matrix, {.blocked = blocked, .block_side = 64, .limit = 40});
        b_.fabric.submit(application.packet());
        wait_for(Tick{1'000'000} * microseconds);
        const lacuna_sida_matrix& stored = application.image().stored().front();
        for (const std::uint64_t changed :
             {stored.by_columns.coordinates, stored.by_columns.offsets, stored.by_rows.coordinates, stored.by_rows.offsets,
              stored.block_rows, stored.block_offsets}) {
          if (changed != 0) std::fill_n(b_.fabric.words(changed - TestGpu::kBase) + 1, 40, word);
        }
        failures += failed_at_the_end(b_.fabric) ? 1U : 0U;
        EXPECT_TRUE(b_.fabric.done() || b_.fabric.reg(LACUNA_GPU_QUEUE_STATUS) == LACUNA_QUEUE_FAILED) << b_.fabric.diagnosis();
      }
    }
  }
  EXPECT_GT(failures, 0U);
  clear_guest_mistakes();
  expect_works(b_.fabric, matrix, "after a matrix has changed");
}

// A program with changed words either runs, or fails with its queue; a reset ends one whose loop has become long.
// LACUNA_SIDA_DEVICE_PROGRAMS sets the number of programs.
TEST_F(SidaRobustness, ProgramsChangedAtRandomDoNotHang) {
  const char* const more = std::getenv("LACUNA_SIDA_DEVICE_PROGRAMS");
  const std::uint64_t programs = more ? std::strtoull(more, nullptr, 10) : 200;
  sida::Random random(5);
  const std::array<const char*, 4> names{"pr", "bfs", "kpp", "gmres"};
  const sida::SparseMatrix matrix = sida::generated("mesh2d:rows=100");
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < programs; ++i) {
    clear_guest_mistakes();
    b_.fabric.start();
    const bool blocked = random.below(2) == 0;
    DeviceApplication application(b_.fabric, names[i % names.size()], matrix,
                                  {.blocked = blocked, .block_side = 16, .limit = 3});
    // Half of the changes are in the program, half in the matrix and the vectors.
    const std::uint64_t program = application.image().program() - TestGpu::kBase;
    for (sida::Index changes = 1 + random.below(3); changes != 0; --changes) {
      const bool in_data = random.below(2) == 0;
      const std::uint64_t first = in_data ? TestGpu::kData : program,
                          bytes = in_data ? program - TestGpu::kData : application.header().bytes;
      std::uint32_t& word = *b_.fabric.words(first + random.below(static_cast<sida::Index>(bytes / 4)) * 4);
      word = random.below(2) == 0 ? word ^ (1U << random.below(32)) : random.below(~0U);
    }
    b_.fabric.submit(application.packet());
    failures += failed_at_the_end(b_.fabric) ? 1U : 0U;
  }
  EXPECT_GT(failures, programs / 10);
  clear_guest_mistakes();
  expect_works(b_.fabric, matrix, "after programs with errors");
}

}  // namespace
}  // namespace lacuna::test
