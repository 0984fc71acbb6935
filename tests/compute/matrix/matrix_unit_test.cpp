#include "models/compute/matrix/matrix_unit.h"

#include <gtest/gtest.h>

#include "models/isa/analysis/execution_profile.h"

namespace lacuna {
namespace {

TEST(MatrixUnits, AnInstructionKeepsItsSimdsUnitForItsPasses) {
  const struct {
    isa::LatencyClass latency;
    unsigned passes;
  } table[] = {{isa::LatencyClass::mfma_2_pass, 2},
               {isa::LatencyClass::mfma_4_pass, 4},
               {isa::LatencyClass::mfma_8_pass, 8},
               {isa::LatencyClass::mfma_16_pass, 16}};
  MatrixUnits units(4, Cycles{4});
  std::uint64_t cycle = 0;
  std::uint64_t busy = 0;
  for (const auto& row : table) {
    EXPECT_EQ(isa::matrix_passes(row.latency), row.passes);
    units.issue(1, row.passes, Cycles{cycle});
    EXPECT_EQ(units.free_from(1), Cycles{cycle + 4 * row.passes});
    EXPECT_EQ(units.free_from(2), Cycles{}) << "of another SIMD";
    busy += 4 * row.passes;
    cycle += 100;
  }
  EXPECT_EQ(units.busy_cycles(), busy);
  EXPECT_EQ(units.instructions(), 4U);
}

TEST(MatrixUnits, OtherInstructionsDoNotUseMatrixUnits) {
  EXPECT_EQ(isa::matrix_passes(isa::LatencyClass::valu), 0U);
  EXPECT_EQ(isa::matrix_passes(isa::LatencyClass::nop), 0U);
}

TEST(MatrixUnits, ALongerCycleIsExactOverManyInstructions) {
  MatrixUnits units(1, Cycles{4}, 121, Cycles{3});
  EXPECT_EQ(units.issue(0, 8, Cycles{10}), Cycles{49}) << "10 + 38.72";
  EXPECT_EQ(units.free_from(0), Cycles{46}) << "into the input registers";
  EXPECT_EQ(units.issue(0, 8, Cycles{46}), Cycles{88}) << "10 + 77.44";
  EXPECT_EQ(units.issue(0, 16, Cycles{100}), Cycles{178}) << "100 + 77.44: it was idle";
  EXPECT_EQ(units.busy_cycles(), 154U) << "154.88";
}

TEST(MatrixUnits, AResetFreesUnitsAndKeepsCounters) {
  MatrixUnits units(4, Cycles{4});
  units.issue(3, 16, Cycles{1000});
  units.reset();
  EXPECT_EQ(units.free_from(3), Cycles{});
  EXPECT_EQ(units.busy_cycles(), 64U);
}

}  // namespace
}  // namespace lacuna
