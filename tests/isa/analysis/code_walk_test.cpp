// Tests walk_code(): the instructions that it reaches and does not reach, and its report of instructions that would stop a
// wavefront.
#include "models/isa/analysis/code_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace lacuna::isa {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kBase = 0x1000;

// Encodings by llvm-mc-16 -mcpu=gfx803 -show-encoding.
constexpr std::uint32_t kNop = 0xbf800000;
constexpr std::uint32_t kEnd = 0xbf810000;
constexpr std::uint32_t kTrap2 = 0xbf920002;
constexpr std::uint32_t kIllegal = 0xbfff0000;
constexpr std::uint32_t branch(std::int16_t words) { return 0xbf820000 | static_cast<std::uint16_t>(words); }
constexpr std::uint32_t branch_scc0(std::int16_t words) { return 0xbf840000 | static_cast<std::uint16_t>(words); }
constexpr std::uint32_t kGetpcS4 = 0xbe841c00;
constexpr std::uint32_t kAddS4Literal = 0x8004ff04;  // s_add_u32 s4, s4, literal
constexpr std::uint32_t kAddcS5Zero = 0x82058005;    // s_addc_u32 s5, s5, 0
constexpr std::uint32_t kCallS4 = 0xbe9e1e04;        // s_swappc_b64 s[30:31], s[4:5]
constexpr std::uint32_t kReturn = 0xbe801d1e;        // s_setpc_b64 s[30:31]
constexpr std::uint32_t kMovS4Zero = 0xbe840080;

FetchWords fetch(const std::vector<std::uint32_t>& code) {
  return [&code](std::uint64_t pc, std::array<std::uint32_t, 3>& words) -> std::size_t {
    const std::uint64_t index = (pc - kBase) / 4;
    if (pc < kBase || index >= code.size()) return 0;
    const std::size_t count = std::min<std::size_t>(3, code.size() - index);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(index), count, words.begin());
    return count;
  };
}

CodeInventory walk(const std::vector<std::uint32_t>& code) { return walk_code(fetch(code), Target::gfx803, {}, kBase); }

TEST(CodeWalk, UnreachableCodeDoesNotCount) {
  const CodeInventory inventory = walk({branch(1), kIllegal, kNop, kEnd, kIllegal});
  EXPECT_TRUE(inventory.runs());
  EXPECT_EQ(inventory.instructions, 3u);
  ASSERT_EQ(inventory.ranges.size(), 2u);
  EXPECT_EQ(inventory.ranges[1].begin, kBase + 8);
  EXPECT_EQ(inventory.ranges[1].end, kBase + 16);
}

TEST(CodeWalk, BothSidesOfABranchAndLoopsCountOnce) {
  const CodeInventory inventory = walk({kNop, branch_scc0(1), kEnd, kIllegal});
  ASSERT_EQ(inventory.problems.size(), 1u);
  EXPECT_EQ(inventory.problems[0].pc, kBase + 12);
  EXPECT_EQ(inventory.problems[0].mnemonic, ".long 0xbfff0000");
  EXPECT_THAT(inventory.problems[0].reason, HasSubstr("unknown SOPP opcode"));
  const CodeInventory loop = walk({kNop, kNop, branch_scc0(-3), kEnd});
  EXPECT_EQ(loop.instructions, 4u);
  EXPECT_EQ(loop.uses.at("s_nop").count, 2u);
}

TEST(CodeWalk, CallsAreFollowed) {
  // s_getpc at 0x1000 returns 0x1004; + 20 is 0x1018.
  const CodeInventory inventory = walk({kGetpcS4, kAddS4Literal, 20, kAddcS5Zero, kCallS4, kEnd, kIllegal});
  EXPECT_EQ(inventory.calls, 1u);
  EXPECT_EQ(inventory.unknown_targets, 0u);
  ASSERT_EQ(inventory.problems.size(), 1u);
  EXPECT_EQ(inventory.problems[0].pc, kBase + 24);
  EXPECT_TRUE(walk({kGetpcS4, kAddS4Literal, 20, kAddcS5Zero, kCallS4, kEnd, kReturn}).runs());
}

TEST(CodeWalk, UnknownBranchTargetsAreReported) {
  const CodeInventory inventory = walk({kMovS4Zero, kCallS4, kEnd});
  EXPECT_EQ(inventory.unknown_targets, 1u);
  EXPECT_TRUE(inventory.runs());
}

TEST(CodeWalk, ATrapEndsTheWavefrontAndTheEndOfMemoryIsNotAnInstruction) {
  EXPECT_TRUE(walk({kTrap2, kIllegal}).runs());
  const CodeInventory open = walk({kNop});
  EXPECT_TRUE(open.runs());
  EXPECT_EQ(open.runs_into_nothing, 1u);
  EXPECT_FALSE(walk({}).runs());
}

TEST(CodeWalk, UnsupportedInstructionsAreNamed) {
  const CodeInventory inventory = walk({0xbe801f04, kEnd});  // s_rfe_b64 s[4:5]
  ASSERT_EQ(inventory.problems.size(), 1u);
  EXPECT_EQ(inventory.problems[0].mnemonic, "s_rfe_b64 s[4:5]");
  EXPECT_EQ(inventory.uses.at("s_rfe_b64").verdict, Verdict::unsupported);
}

TEST(CodeWalk, RandomWordsEnd) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    std::vector<std::uint32_t> code(1000);
    // Three quarters of the words are conditional branches.
    for (std::uint32_t& word : code)
      word = random() % 4 == 0 ? static_cast<std::uint32_t>(random())
                               : branch_scc0(static_cast<std::int16_t>(random() % 2000 - 1000));
    for (const Target target : {Target::gfx803, Target::gfx90a}) {
      const CodeInventory inventory = walk_code(fetch(code), target, {}, kBase);
      EXPECT_LE(inventory.instructions, code.size());
    }
  }
}

}  // namespace
}  // namespace lacuna::isa
