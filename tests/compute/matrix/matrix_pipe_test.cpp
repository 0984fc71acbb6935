// Tests the issue of matrix instructions: units, register ports, and the optional interlock.
#include "models/compute/matrix/matrix_pipe.h"

#include <gtest/gtest.h>

#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

// v_mfma_f32_16x16x16f16 v[4:7], v[0:1], v[2:3], v[4:7], of 8 passes; v_mov_b32 v1, v4
const Words kMatrixProgram = {0xd3cd0004, 0x04120500, 0x7e020304, 0xbf810000};

struct Unit {
  explicit Unit(const MatrixParameters& matrix)
      : p({.target = isa::Target::gfx90a, .matrix = matrix}),
        d(p.dispatch(kMatrixProgram)),
        slot(*p.start(*d).slots[0]),
        mfma(*slot.next) {}
  UnitParts p;
  std::unique_ptr<Dispatch> d;
  WavefrontSlot& slot;
  const isa::DecodedInstruction& mfma;
};

TEST(MatrixPipe, TheUnitIsBusyForThePassesOfItsInstruction) {
  Unit u({});
  MatrixPipe& matrix = u.p.matrix;
  ASSERT_EQ(u.mfma.passes, 8U);
  EXPECT_EQ(matrix.issue(u.slot, u.mfma, Cycles{100}), 4U) << "the vector ALU only issues it";
  const unsigned simd = u.slot.simd->number;
  EXPECT_EQ(matrix.free_from(simd), Cycles{100 + 8 * 4});
  EXPECT_EQ(matrix.free_from(simd ^ 1), Cycles{0});
  EXPECT_EQ(matrix.units().busy_cycles(), 32U);
  std::uint64_t passes = 0;
  for (const std::uint64_t p : matrix.passes()) passes += p;
  EXPECT_EQ(passes, 8U);
  matrix.reset();
  EXPECT_EQ(matrix.free_from(simd), Cycles{0});
  EXPECT_EQ(matrix.units().busy_cycles(), 32U) << "counts are kept";
}

TEST(MatrixPipe, SharedPortsTakeTheTimeOfTheRegisters) {
  Unit u({.register_ports = MatrixPorts::shared});
  // In the time of a vector instruction the ports read three registers and write one: 4 writes take longer than 8 reads.
  EXPECT_EQ(u.p.matrix.issue(u.slot, u.mfma, Cycles{100}), 4U * 4U);
}

TEST(MatrixPipe, OnlyAnInterlockStallsAReaderOfTheResult) {
  for (const MatrixInterlock interlock : {MatrixInterlock::extended, MatrixInterlock::all}) {
    Unit u({.interlock = interlock});
    MatrixPipe& matrix = u.p.matrix;
    matrix.issue(u.slot, u.mfma, Cycles{100});
    u.slot.next = u.p.code.at(UnitParts::kCode + 8);
    ASSERT_NE(u.slot.next, nullptr);
    const bool stalls = matrix.stalls(u.slot, Cycles{104});
    EXPECT_EQ(stalls, interlock == MatrixInterlock::all);
    if (!stalls) continue;
    EXPECT_EQ(u.slot.when, Cycles{100 + (8 + 4) * 4}) << "passes of the instruction, and mfma.result_passes";
    EXPECT_EQ(u.slot.ready(), u.slot.when);
    matrix.depart(u.slot);
    EXPECT_FALSE(matrix.stalls(u.slot, Cycles{104}));
  }
}

}  // namespace
}  // namespace lacuna::test
