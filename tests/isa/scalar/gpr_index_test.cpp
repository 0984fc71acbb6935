// Tests VGPR indexing: s_set_gpr_idx_on, _idx, _mode and _off, and their effect on vector instructions.
#include "models/isa/scalar/gpr_index.h"
#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kOfSource0 = 1, kOfSource1 = 2, kOfDestination = 8;

class GprIndex : public ::testing::TestWithParam<Target> {
 protected:
  GprIndex() : machine_(GetParam()) {
    for (unsigned reg = 0; reg < kRegisters; ++reg) machine_.fill(reg, 100 + reg);
    machine_.wave.sgpr[kM0] = 0xabcd0000;
  }
  void on(unsigned index, unsigned modes) {
    machine_.wave.sgpr[4] = index;
    step({0xbf110004 | modes << 8, 0});
  }
  void step(std::initializer_list<std::uint32_t> words) { step(machine_.assemble(words)); }
  void step(const Instruction& instruction) {
    machine_.wave.event = Event::none;
    execute_instruction(instruction, machine_.wave);
  }
  std::uint32_t value(unsigned reg) { return machine_.at(reg, 7); }

  Machine machine_;
};

TEST_P(GprIndex, OnSetsModeAndM0) {
  on(0x1234, kOfSource0 | kOfDestination);
  EXPECT_TRUE(machine_.wave.mode.gpr_index_enabled());
  EXPECT_EQ(machine_.wave.sgpr[kM0], 0xabcd9034U);
  machine_.wave.sgpr[6] = 0x77;
  step({0xbe803206, 0});  // s_set_gpr_idx_idx s6
  EXPECT_EQ(machine_.wave.sgpr[kM0], 0xabcd9077U);
  step({0xbf9d0006, 0});  // s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)
  EXPECT_EQ(machine_.wave.sgpr[kM0], 0xabcd6077U);
  step({0xbf9c0000, 0});  // s_set_gpr_idx_off
  EXPECT_FALSE(machine_.wave.mode.gpr_index_enabled());
  EXPECT_EQ(machine_.wave.sgpr[kM0], 0xabcd6077U);
}

TEST_P(GprIndex, VskipLeavesOutVectorInstructions) {
  machine_.wave.sgpr[4] = 1U << 9;
  machine_.wave.sgpr[5] = 32 + 9;  // bit number; only the low five bits are used
  step({0xbf100504, 0});           // s_setvskip s4, s5
  EXPECT_EQ(machine_.wave.mode.bits >> 28 & 1, 1U);
  step(machine_.e32("v_mov_b32", 10, vgpr(2)));
  EXPECT_EQ(value(10), 110U);
  step({0xbe8600ff, 77});  // s_mov_b32 s6, 77: scalar instructions still execute
  EXPECT_EQ(machine_.wave.sgpr[6], 77U);
  machine_.wave.sgpr[5] = 8;
  step({0xbf100504, 0});
  EXPECT_EQ(machine_.wave.mode.bits >> 28 & 1, 0U);
  step(machine_.e32("v_mov_b32", 10, vgpr(2)));
  EXPECT_EQ(value(10), 102U);
}

TEST_P(GprIndex, SetKillEndsTheWavefront) {
  step({0xbf8b0000, 0});
  EXPECT_EQ(machine_.wave.event, Event::none);
  step({0xbf8b0001, 0});  // s_setkill 1
  EXPECT_EQ(machine_.wave.event, Event::end_program);
}

TEST_P(GprIndex, OnlyOperandsNamedByTheModeAreIndexed) {
  const Instruction move = machine_.e32("v_mov_b32", 10, vgpr(2));
  on(5, kOfSource0);
  step(move);
  EXPECT_EQ(value(10), 107U);
  on(5, kOfDestination);
  step(move);
  EXPECT_EQ(value(15), 102U);
  on(5, kOfSource0 | kOfDestination);
  step(machine_.e32("v_mov_b32", 20, vgpr(30)));
  EXPECT_EQ(value(25), 135U);
  on(3, kOfSource1);
  step(machine_.e32("v_xor_b32", 40, vgpr(1), 2));
  EXPECT_EQ(value(40), 101U ^ 105U);
  on(3, 0);
  step(machine_.e32("v_mov_b32", 41, vgpr(2)));
  EXPECT_EQ(value(41), 102U);
}

TEST_P(GprIndex, OnlyVgprOperandsAndPairsAreIndexed) {
  on(4, kOfSource0 | kOfSource1 | kOfDestination);
  step(machine_.e32("v_add_u16", 10, integer_constant(1), 2));
  EXPECT_EQ(value(14), 107U);
  step(machine_.e64("v_lshlrev_b64", 20, {integer_constant(0), vgpr(30), 0}));
  EXPECT_EQ(value(24), 134U);
  EXPECT_EQ(value(25), 135U);
  // The accumulator of a multiply-add is its destination.
  machine_.fill(24, std::bit_cast<std::uint32_t>(10.0F));
  machine_.fill(34, std::bit_cast<std::uint32_t>(3.0F));
  machine_.fill(36, std::bit_cast<std::uint32_t>(2.0F));
  step(machine_.e32("v_mac_f32", 20, vgpr(30), 32));
  EXPECT_EQ(value(24), std::bit_cast<std::uint32_t>(16.0F));
}

TEST_P(GprIndex, IndicesBeyondTheAllocationReadV0AndWriteNothing) {
  on(kRegisters, kOfSource0);
  step(machine_.e32("v_mov_b32", 10, vgpr(2)));
  EXPECT_EQ(value(10), 100U) << "reads v0";
  on(kRegisters, kOfDestination);
  step(machine_.e32("v_mov_b32", 10, vgpr(3)));
  for (unsigned reg = 11; reg < kRegisters; ++reg) EXPECT_EQ(value(reg), 100 + reg);
}

TEST_P(GprIndex, ReadFirstLaneIsNotIndexed) {
  on(5, kOfSource0 | kOfDestination);
  step(machine_.e32("v_readfirstlane_b32", 30, vgpr(2)));
  EXPECT_EQ(machine_.wave.sgpr[30], 102U);
}

TEST_P(GprIndex, IndexingEndsWithOff) {
  on(5, kOfSource0);
  step({0xbf9c0000, 0});
  step(machine_.e32("v_mov_b32", 10, vgpr(2)));
  EXPECT_EQ(value(10), 102U);
}

INSTANTIATE_TEST_SUITE_P(Targets, GprIndex, ::testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test
