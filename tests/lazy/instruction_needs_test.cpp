// Tests which lanes of held loads an instruction needs before it executes.
#include "models/lazy/instruction_needs.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "models/isa/decode/decoder.h"

namespace lacuna {
namespace {

using isa::OperandKind;

class InstructionNeedsTest : public testing::Test {
 protected:
  std::vector<std::uint32_t> registers_ = std::vector<std::uint32_t>(32 * isa::kLanes, 1);
  isa::Wavefront wave_;
  HeldLoads loads_;
  HeldLoads::OfWavefront held_;

  void SetUp() override {
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = 32;
    wave_.set_exec(kExec);
  }
  /// Holds a load of all lanes in `count` registers from `first` on.
  HeldLoad& hold(std::uint16_t first, std::uint16_t count) {
    HeldLoad& load = loads_.take();
    load.registers = {OperandKind::vgpr, first, count};
    load.lanes = ~std::uint64_t{0};
    loads_.enter(held_, load);
    return load;
  }
  /// Encodings are those of llvm-mc-16 -mcpu=gfx803.
  static isa::DecodedInstruction decoded(std::initializer_list<std::uint32_t> words) {
    const isa::DecodeResult result = isa::decode(words.begin(), words.size(), isa::Target::gfx803);
    EXPECT_TRUE(result.ok) << result.error;
    return isa::DecodedInstruction(result.instruction);
  }
  InstructionNeeds needs(std::initializer_list<std::uint32_t> words, LazyMode mode = LazyMode::lazy) {
    InstructionNeeds needs(loads_, {.mode = mode});
    const isa::DecodedInstruction instruction = decoded(words);
    const bool everything = InstructionNeeds::needs_everything(instruction, wave_);
    needs.touch(held_, instruction, everything);
    needs.find(held_, instruction, wave_, everything);
    return needs;
  }

  static constexpr std::uint64_t kExec = 0xffff;
  static constexpr std::uint32_t kMove32 = 0x7e060302;      // v_mov_b32 v3, v2
  static constexpr std::uint32_t kMultiply24 = 0x0a060902;  // v_mul_f32 v3, v2, v4
};

TEST_F(InstructionNeedsTest, SourcesInLanesOfExec) {
  const HeldLoad& used = hold(2, 1);
  const HeldLoad& other = hold(9, 1);
  const InstructionNeeds found = needs({kMove32});
  EXPECT_EQ(found.touched(), std::vector<std::uint16_t>{used.number});
  EXPECT_EQ(used.need[0], kExec);
  EXPECT_FALSE(other.is_needed());
}

TEST_F(InstructionNeedsTest, AllLanesOfALaneMove) {
  const HeldLoad& load = hold(2, 1);
  needs({0x7e0602fa, 0xff010102});  // v_mov_b32_dpp v3, v2 row_shl:1
  EXPECT_EQ(load.need[0], ~std::uint64_t{0});
}

TEST_F(InstructionNeedsTest, AnOverwrittenRegisterIsNotNeeded) {
  const HeldLoad& load = hold(3, 1);
  const InstructionNeeds found = needs({kMove32});
  EXPECT_TRUE(found.touched().empty());
  EXPECT_FALSE(load.is_needed());
}

TEST_F(InstructionNeedsTest, OverwritingTheAddressNeedsTheOtherRegisters) {
  const HeldLoad& load = hold(3, 2);
  const InstructionNeeds found = needs({kMove32});
  EXPECT_EQ(found.touched(), std::vector<std::uint16_t>{load.number});
  EXPECT_EQ(load.need[0], 0U);
  EXPECT_EQ(load.need[1], kExec);
}

TEST_F(InstructionNeedsTest, ABarrierNeedsEverything) {
  const HeldLoad& load = hold(12, 2);
  needs({0xbf8a0000});  // s_barrier
  EXPECT_EQ(load.need[0], ~std::uint64_t{0});
  EXPECT_EQ(load.need[1], ~std::uint64_t{0});
}

TEST_F(InstructionNeedsTest, AZeroOperandMakesLanesOfTheOtherUnneeded) {
  const HeldLoad& load = hold(2, 1);
  for (unsigned lane = 0; lane < 4; ++lane) registers_[4 * isa::kLanes + lane] = 0;
  EXPECT_TRUE(needs({kMultiply24}).spared().empty()) << "not in this mode";
  EXPECT_EQ(load.need[0], kExec);
  const InstructionNeeds found = needs({kMultiply24}, LazyMode::lazy_zero_otimes);
  EXPECT_EQ(load.need[0], kExec & ~std::uint64_t{0xf});
  ASSERT_EQ(found.spared().size(), 1U);
  EXPECT_EQ(found.spared()[0].lanes & kExec, 0xfU);
  EXPECT_EQ(found.spared()[0].load, load.number);
}

}  // namespace
}  // namespace lacuna
