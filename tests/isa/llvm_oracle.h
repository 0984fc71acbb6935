// LLVM's assembler and disassembler as the oracle for Lacuna's decoder and disassembler: the installed tools, and their
// library. CMake supplies the paths.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna::isa::test {

using Words = std::array<std::uint32_t, 3>;

struct OracleText {
  std::string text;  ///< as llvm-objdump prints it, without comment; "" when LLVM rejects the bytes
  unsigned bytes = 0;
};

/// Disassembles all cases by one call of llvm-mc and one of llvm-objdump, each case independently of the others.
std::vector<OracleText> disassemble_by_llvm(const std::vector<Words>& cases, Target target);

/// Assembles the lines and returns the words of each instruction. Throws std::runtime_error with LLVM's message.
std::vector<std::vector<std::uint32_t>> assemble_by_llvm(const std::vector<std::string>& lines, Target target);

/// One line of `llvm-objdump -d` of a code object.
struct ListingLine {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> words;
  std::string text;  ///< "" when LLVM rejects the bytes
};
std::vector<ListingLine> list_code_object(const std::string& path, Target target);

}  // namespace lacuna::isa::test
