// Bytes to instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/instruction.h"
#include "models/isa/matrix/matrix_extensions.h"

namespace lacuna::isa {

/// Decodes one instruction from `words` (at least 1, at most 3 are looked at). Returns the instruction, or false in `ok` with
/// `error` saying why ("unknown VOP2 opcode 61", "truncated: literal missing"). A code of a matrix extension that is not in
/// `codes` is an instruction that is not executed.
struct DecodeResult {
  bool ok = false;
  Instruction instruction;
  std::string error;
};
DecodeResult decode(const std::uint32_t* words, std::size_t available, Target target, const MatrixCodes& codes = {});

/// Text as `llvm-objdump-16 -d` prints it, branch targets as it prints them without symbols.
std::string disassemble(const Instruction& instruction, Target target);
/// What LLVM does not know of an instruction: "simd2.minplus". Empty for nearly all.
std::string_view extension_name(const Instruction& instruction);
/// Why the instruction has no executor, when that is so: "the instruction is not executed", "simd2.minplus needs
/// mfma.extensions = simd2". Otherwise empty.
std::string not_executed_reason(const Instruction& instruction);

}  // namespace lacuna::isa
