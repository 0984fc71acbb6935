// The preset titanv-like, compared with the baseline of Duplo (MICRO '20), section V.D: load latencies of 28 cycles (L1) and
// 120 cycles (L2).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/pointer_chain.h"

namespace lacuna::validation {
namespace {

constexpr double kClock = 1.2;  // GHz
constexpr unsigned kLine = 128;
constexpr double kL1 = 28, kL2 = 120;  // cycles

/// Returns the mean number of cycles of a load in a chain that stays in the L1 cache. The cache is empty when a kernel starts,
/// so the first load of each line is served by the L2.
double from_l1(unsigned lines) { return kL1 + (kL2 - kL1) * lines / kHops; }

TEST(TitanV, Latencies) {
  Machine machine("titanv_latency", "titanv-like", {});
  const auto cycles = [&](const ChainLevel& level) { return load_latency(machine, level, kLine) * kClock; };
  // Working sets: 4 KiB for the L1, and 2 MiB for the L2, whose size is 4.5 MiB.
  EXPECT_NEAR(cycles({"L1", 32, 32, true}), from_l1(32), 1);
  EXPECT_NEAR(cycles({"L2", 16384, 16383, true}), kL2, 3);
}

// The L1 has 32 KiB: a working set of three quarters of this size stays resident, and one of twice this size does not.
TEST(TitanV, L1HoldsItsSize) {
  Machine machine("titanv_l1", "titanv-like", {});
  const auto cycles = [&](unsigned kib) {
    const unsigned lines = kib * 1024 / kLine;
    return load_latency(machine, {"L1", lines, 3 * lines, true}, kLine) * kClock;
  };
  EXPECT_NEAR(cycles(24), from_l1(24 * 1024 / kLine), 1);
  EXPECT_GT(cycles(64), 100);
}

}  // namespace
}  // namespace lacuna::validation
