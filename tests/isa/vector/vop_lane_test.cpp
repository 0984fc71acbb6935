// Tests lane access, lane counts and indexed moves.
#include <bitset>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

TEST(VopLane, ReadFirstLane) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = 50 + lane;
  for (const auto& [exec, want] : {std::pair{kAllLanes, 50U}, std::pair{std::uint64_t{1} << 63, 113U},
                                   std::pair{std::uint64_t{0b1000}, 53U}, std::pair{std::uint64_t{0}, 50U}}) {
    machine.wave.set_exec(exec);
    machine.run(machine.e32("v_readfirstlane_b32", 8, vgpr(kSrc0)));
    EXPECT_EQ(machine.wave.sgpr[8], want);
  }
}

TEST(VopLane, ReadAndWriteLaneIgnoreExec) {
  Machine machine;
  for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(kSrc0, lane) = 50 + lane;
  machine.wave.set_exec(0);
  machine.wave.sgpr[9] = 64 + 7;  // modulo 64
  machine.run(machine.e64("v_readlane_b32", 8, {vgpr(kSrc0), sgpr(9), 0}));
  EXPECT_EQ(machine.wave.sgpr[8], 57U);
  machine.run(machine.e64("v_readlane_b32", 8, {vgpr(kSrc0), integer_constant(63), 0}));
  EXPECT_EQ(machine.wave.sgpr[8], 113U);
  machine.fill(kDst, kUntouched);
  machine.run(machine.e64("v_writelane_b32", kDst, {sgpr(8), sgpr(9), 0}));
  for (unsigned lane = 0; lane < kLanes; ++lane) EXPECT_EQ(machine.at(kDst, lane), lane == 7 ? 113U : kUntouched);
}

TEST(VopLane, CountsMaskBitsBelow) {
  Machine machine;
  const std::uint64_t bits = 0xf123456789abcdef;
  machine.wave.write64(10, bits);
  machine.run(machine.e64("v_mbcnt_lo_u32_b32", 20, {sgpr(10), integer_constant(5), 0}));
  machine.run(machine.e64("v_mbcnt_hi_u32_b32", 21, {sgpr(11), vgpr(20), 0}));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t below = bits & ((std::uint64_t{1} << lane) - 1);
    EXPECT_EQ(machine.at(20, lane), 5 + std::bitset<64>(below & 0xffffffff).count());
    EXPECT_EQ(machine.at(21, lane), 5 + std::bitset<64>(below).count());
  }
}

TEST(VopLane, MovesIndexedByM0) {
  Machine machine;
  for (unsigned r = 0; r < kRegisters; ++r) machine.fill(r, 100 + r);
  machine.wave.sgpr[kM0] = 5;
  machine.run(machine.e32("v_movrels_b32", 40, vgpr(10)));
  EXPECT_EQ(machine.at(40, 9), 115U);
  machine.wave.set_exec(0xff);
  machine.run(machine.e32("v_movreld_b32", 40, vgpr(10)));
  EXPECT_EQ(machine.at(45, 7), 110U);
  EXPECT_EQ(machine.at(45, 8), 145U);
  machine.run(machine.e32("v_movrelsd_b32", 41, vgpr(10)));
  EXPECT_EQ(machine.at(46, 0), 115U);
  machine.wave.sgpr[kM0] = 1000;
  machine.run(machine.e32("v_movrels_b32", 40, vgpr(10)));
  EXPECT_EQ(machine.at(40, 0), 100U) << "beyond the allocation: VGPR 0";
  machine.run(machine.e32("v_movreld_b32", 40, vgpr(11)));
  EXPECT_EQ(machine.at(40, 0), 100U) << "beyond the allocation: not written";
}

TEST(VopLane, NoOperation) {
  Machine machine;
  machine.run(machine.assemble({0x7e000000}));
  EXPECT_EQ(machine.wave.event, Event::none);
}

}  // namespace
}  // namespace lacuna::isa::test
