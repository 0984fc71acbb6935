// Compares the area and energy of the accelerator, and the analytical CPU model, with manual calculations.
#include <gtest/gtest.h>

#include <numeric>

#include "models/sida/machine/area.h"
#include "models/sida/machine/cpu.h"
#include "models/sida/machine/energy.h"

namespace lacuna::sida::test {
namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;

// 64 MB of AMD's 3D V-Cache take 41 mm2 with cells of 0.027 um2; Samsung's cells take 0.040 um2.
TEST(SidaArea, BufferMatchesAProductionCacheScaledByCells) {
  EXPECT_NEAR(buffer_mm2(64 * kMegabyte), 41 * 0.040 / 0.027, 1e-9);
  EXPECT_NEAR(buffer_mm2(kMegabyte) * 256, buffer_mm2(256 * kMegabyte), 1e-9);
}

// A unit of 64 multiply-adds takes 11.52 mm2 at 45 nm, and 11.17 times that area with 64-bit operands; 69 % of 11.52 mm2 scales
// to 0.378 mm2 in 8N.
TEST(SidaArea, PesMatchTheThesisMatrixUnit) {
  EXPECT_NEAR(pes_mm2(1024, false), 3 * 1024 * 11.17 * 0.378 / 0.69 / 64, 1e-9);
  EXPECT_NEAR(pes_mm2(1024, true) / pes_mm2(1024, false), 17.01 / 11.17, 1e-12);
}

TEST(SidaArea, LinesFollowTheParameters) {
  const auto lines = area_lines(16, kMegabyte);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].value, buffer_mm2(kMegabyte));
  EXPECT_EQ(lines[1].value, pes_mm2(16, false));
  EXPECT_EQ(lines[2].value, pes_mm2(16, true));
}

TEST(SidaCpu, ReadsFromMemoryTheShareOutsideItsCache) {
  CpuParameters cpu;
  cpu.bandwidth = 10;
  cpu.cache_bandwidth = 100;
  cpu.cache = Bytes{1'000'000};
  EXPECT_DOUBLE_EQ(cpu.time(2e9, 1e5, true), 0.2) << "the first time all are read from memory";
  EXPECT_DOUBLE_EQ(cpu.time(2e9, 1e6, false), 0.02) << "the working set fits";
  EXPECT_DOUBLE_EQ(cpu.time(2e9, 4e6, false), 0.75 * 0.2 + 0.25 * 0.02);
}

TEST(SidaEnergy, PartsAreCountsTimesEnergies) {
  EnergyParameters energy;
  energy.compute.valu_f64_fma = 3;
  energy.dram.read = 1;
  energy.dram.write = 2;
  energy.dram.io = 4;
  energy.dram.activate = 1024;
  energy.sida.buffer_read = 5;
  energy.sida.buffer_write = 7;
  EnergyCounts counts;
  counts.operations.f64_fma = 10;
  counts.memory_read = 100;
  counts.memory_written = 1000;
  counts.read(BufferKind::x, 20);
  counts.write(BufferKind::rows, 30);
  const auto parts = joules(counts, energy);
  EXPECT_DOUBLE_EQ(parts[0], 30e-12);
  EXPECT_DOUBLE_EQ(parts[1], (100 * (1 + 4 + 1) + 1000 * (2 + 4 + 1)) * 1e-12);
  EXPECT_DOUBLE_EQ(parts[2], (20 * 5 + 30 * 7) * 1e-12);
  const auto kinds = buffer_joules(counts, energy);
  EXPECT_DOUBLE_EQ(std::accumulate(kinds.begin(), kinds.end(), 0.0), parts[2]);
}

}  // namespace
}  // namespace lacuna::sida::test
