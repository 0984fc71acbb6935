// Tests the check of a kernel's code before the kernel runs: code is checked, data next to it are not.
#include "models/command/code_check.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "models/isa/decode/table.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kCodeBase = 0x200000;
constexpr std::uint64_t kCodeBytes = 0x4000;
constexpr std::uint64_t kData = 0x1000;  // offset of constant data
constexpr std::uint64_t kCode = 0x2000;
constexpr std::uint32_t kNoInstruction = 0x6f8b2973;  // VOP2 opcode 55

/// A code object as the ROCm runtime loads it: all of it is executable, regardless of the permissions that its segments
/// specify.
class CodeCheckTest : public testing::Test {
 protected:
  CodeCheckTest() : bytes_(kCodeBytes) {
    vm_.map(kCodeBase, kCodeBytes, 0, bytes_.data(), isa::Access::read | isa::Access::execute);
    put(kData, {kNoInstruction, kNoInstruction});
    // Computes the address of the data, 0x1004 bytes before the result of s_getpc_b64.
    put(kCode, {0xbe801c00,                                                 // s_getpc_b64 s[0:1]
                0x8000ff00, static_cast<std::uint32_t>(kData - kCode - 4),  // s_add_u32 s0, s0, ...
                0x8201ff01, 0xffffffff,                                     // s_addc_u32 s1, s1, -1
                0xbf810000});                                               // s_endpgm
  }
  void put(std::uint64_t offset, const std::vector<std::uint32_t>& words) {
    std::memcpy(&bytes_[offset], words.data(), words.size() * 4);
  }
  void put_header() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Phdr segments[2]{};
    segments[0] = {.p_type = PT_LOAD,
                   .p_flags = PF_R,
                   .p_offset = 0,
                   .p_vaddr = 0,
                   .p_paddr = 0,
                   .p_filesz = 0,
                   .p_memsz = kCode,
                   .p_align = 0};
    segments[1] = {.p_type = PT_LOAD,
                   .p_flags = PF_R | PF_X,
                   .p_offset = 0,
                   .p_vaddr = kCode,
                   .p_paddr = 0,
                   .p_filesz = 0,
                   .p_memsz = 0x1000,
                   .p_align = 0};
    std::memcpy(bytes_.data(), &header, sizeof header);
    std::memcpy(&bytes_[sizeof header], segments, sizeof segments);
  }

  std::vector<std::byte> bytes_;
  GpuVm vm_;
  CodeCheck check_{vm_, isa::Target::gfx803};
};

TEST_F(CodeCheckTest, ConstantsOfACodeObjectAreNotCode) {
  put_header();
  EXPECT_EQ(check_.problem(kCodeBase + kCode), nullptr);
}

TEST_F(CodeCheckTest, WithoutACodeObjectExecutableMemoryIsCode) {
  const isa::CodeProblem* problem = check_.problem(kCodeBase + kCode);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->pc, kCodeBase + kData);
}

TEST_F(CodeCheckTest, ProblemsInTheCodeAreFound) {
  put_header();
  put(kCode + 20, {kNoInstruction});
  const isa::CodeProblem* problem = check_.problem(kCodeBase + kCode);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->pc, kCodeBase + kCode + 20);
  // Corrected code is checked again.
  put(kCode + 20, {0xbf810000});
  EXPECT_EQ(check_.problem(kCodeBase + kCode), nullptr);
}

TEST_F(CodeCheckTest, OnlyInstructionsThatThePredicateRefusesAreReported) {
  put_header();
  CodeCheck objects(vm_, isa::Target::gfx803, {}, [](const isa::Instruction& instruction) -> std::optional<std::string> {
    if (instruction.row->mnemonic != "s_add_u32" && instruction.row->mnemonic != "s_addc_u32") return std::nullopt;
    return "no sums";
  });
  const isa::CodeProblem* problem = objects.problem(kCodeBase + kCode);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->pc, kCodeBase + kCode + 4);
  EXPECT_EQ(problem->mnemonic.find("s_add_u32 s0, s0"), 0U) << problem->mnemonic;
  EXPECT_EQ(problem->reason, "no sums");
  // Code without the excluded instructions, but with a word that is not an instruction.
  put(kCode + 4, {0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, kNoInstruction});
  EXPECT_EQ(objects.problem(kCodeBase + kCode), nullptr);
  EXPECT_NE(check_.problem(kCodeBase + kCode), nullptr);
}

}  // namespace
}  // namespace lacuna
