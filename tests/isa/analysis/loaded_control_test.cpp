// Tests find_loaded_control() on small gfx803 programs assembled by hand.
#include "models/isa/analysis/loaded_control.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna::isa::test {
namespace {

// Encodings of the GCN3 ISA manual.
constexpr std::uint32_t kLoadArgument[] = {0xC0020004, 0x00000000};     // s_load_dword s0, s[8:9], 0x0
constexpr std::uint32_t kLoadPointer[] = {0xC0060084, 0x00000008};      // s_load_dwordx2 s[2:3], s[8:9], 0x8
constexpr std::uint32_t kLoadUniformData[] = {0xC0020101, 0x00000000};  // s_load_dword s4, s[2:3], 0x0
constexpr std::uint32_t kLoadData[] = {0xDC500000, 0x03000001};         // flat_load_dword v3, v[1:2]
constexpr std::uint32_t kCompareItem = 0x7D940000;                      // v_cmp_eq_u32_e32 vcc, s0, v0
constexpr std::uint32_t kCompareData = 0x7D940600;                      // v_cmp_eq_u32_e32 vcc, s0, v3
constexpr std::uint32_t kReplaceData = 0x7E060280;                      // v_mov_b32_e32 v3, 0
constexpr std::uint32_t kCompareUniform = 0xBF068004;                   // s_cmp_eq_u32 s4, 0
constexpr std::uint32_t kMask = 0xBE84206A;                             // s_and_saveexec_b64 s[4:5], vcc
constexpr std::uint32_t kUnmask = 0x87FE047E;                           // s_or_b64 exec, exec, s[4:5]
constexpr std::uint32_t kBranchVcc = 0xBF860000;                        // s_cbranch_vccz to the next instruction
constexpr std::uint32_t kBranchScc = 0xBF840000;                        // s_cbranch_scc0 to the next instruction
constexpr std::uint32_t kBackBranchVcc = 0xBF86FFFC;                    // s_cbranch_vccz three instructions back
constexpr std::uint32_t kEnd = 0xBF810000;                              // s_endpgm

class Program {
 public:
  Program& add(std::uint32_t word) {
    words_.push_back(word);
    return *this;
  }
  Program& add(const std::uint32_t (&words)[2]) { return add(words[0]).add(words[1]); }

  std::optional<CodeProblem> find() {
    add(kEnd);
    const ControlFlow flow(
        [this](std::uint64_t pc, std::array<std::uint32_t, 3>& words) {
          std::size_t count = 0;
          for (; count < 3 && pc / 4 + count < words_.size(); ++count) words[count] = words_[pc / 4 + count];
          return count;
        },
        Target::gfx803, 0);
    EXPECT_TRUE(flow.known()) << flow.unknown();
    return find_loaded_control(flow);
  }

 private:
  std::vector<std::uint32_t> words_;
};

TEST(LoadedControlTest, ABranchOnAKernelArgumentDoesNotDependOnLoadedData) {
  EXPECT_FALSE(Program().add(kLoadArgument).add(kCompareItem).add(kMask).add(kBranchVcc).find());
}

TEST(LoadedControlTest, FindsBranchesAndMasksThatDependOnVectorLoads) {
  const auto branch = Program().add(kLoadArgument).add(kLoadData).add(kCompareData).add(kBranchVcc).find();
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch->pc, 20U);
  EXPECT_EQ(branch->mnemonic, "s_cbranch_vccz");
  const auto mask = Program().add(kLoadData).add(kCompareData).add(kMask).find();
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask->mnemonic, "s_and_saveexec_b64");
}

TEST(LoadedControlTest, FindsBranchesThatDependOnScalarLoadsThroughALoadedPointer) {
  EXPECT_FALSE(Program().add(kLoadPointer).add(kCompareUniform).add(kBranchScc).find());
  EXPECT_TRUE(Program().add(kLoadPointer).add(kLoadUniformData).add(kCompareUniform).add(kBranchScc).find());
}

TEST(LoadedControlTest, ARegisterThatIsOverwrittenHasTheNewValue) {
  EXPECT_FALSE(Program().add(kLoadData).add(kReplaceData).add(kCompareData).add(kBranchVcc).find());
}

// Lanes that are excluded while v3 is overwritten keep the loaded value.
TEST(LoadedControlTest, ExcludedLanesKeepTheirValue) {
  const auto masked = [] { return Program().add(kLoadArgument).add(kLoadData).add(kCompareItem).add(kMask).add(kReplaceData); };
  EXPECT_TRUE(masked().add(kUnmask).add(kCompareData).add(kBranchVcc).find());
  EXPECT_FALSE(masked().add(kCompareData).add(kBranchVcc).find()) << "the lanes are still excluded";
  EXPECT_FALSE(masked().add(kUnmask).add(kReplaceData).add(kCompareData).add(kBranchVcc).find()) << "all lanes are overwritten";
  const auto before = Program().add(kLoadArgument).add(kLoadData).add(kReplaceData).add(kCompareItem).add(kMask).add(kUnmask);
  EXPECT_FALSE(Program(before).add(kCompareData).add(kBranchVcc).find()) << "overwritten before lanes are excluded";
}

// The first pass through the loop compares the initial value of v3, the second pass compares the loaded value.
TEST(LoadedControlTest, FollowsLoops) { EXPECT_TRUE(Program().add(kCompareData).add(kLoadData).add(kBackBranchVcc).find()); }

}  // namespace
}  // namespace lacuna::isa::test
