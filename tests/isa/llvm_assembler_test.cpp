// Tests the LLVM-based assembler that other tests use: encodings of instructions and data, and error messages.
#include "tests/isa/llvm_assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lacuna::isa::test {
namespace {

using InstructionWords = std::vector<std::vector<std::uint32_t>>;

// Encodings by llvm-mc-16 -show-encoding.
TEST(LlvmAssembler, InstructionsLabelsAndData) {
  EXPECT_EQ(
      assembled_words("top: s_nop 0\ns_load_dwordx2 s[4:5], s[0:1], 0x0\ns_branch top\n.long 0x6f8b2973\n", Target::gfx803),
      (InstructionWords{{0xbf800000}, {0xc0060100, 0}, {0xbf82fffc}, {0x6f8b2973}}));
}

TEST(LlvmAssembler, MistakesHaveLlvmsMessage) {
  // An instruction of the other target, and a name that no target has.
  for (const char* line : {"v_accvgpr_read_b32 v0, a0", "no_such_instruction v0"}) {
    try {
      assembled_words(line, Target::gfx803);
      ADD_FAILURE() << line;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), testing::AllOf(testing::StartsWith("not assembled: "), testing::HasSubstr(line)));
    }
  }
  EXPECT_EQ(assembled_words("s_endpgm", Target::gfx803), (InstructionWords{{0xbf810000}}));
}

}  // namespace
}  // namespace lacuna::isa::test
