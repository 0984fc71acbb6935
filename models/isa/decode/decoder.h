// Decodes bytes to instructions, and prints instructions as text.
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

/// Result of decode(): an instruction, or the reason why there is none.
struct DecodeResult {
  bool ok = false;
  Instruction instruction;
  std::string error;  ///< such as "unknown VOP2 opcode 61", "truncated: second word missing"
};

/// Decodes one instruction from the `available` words at `words`, of which at most three are read. A matrix extension code that
/// is not in `codes` decodes to an instruction without an executor.
DecodeResult decode(const std::uint32_t* words, std::size_t available, Target target, const MatrixCodes& codes = {});

/// Text as printed by `llvm-objdump-16 -d`; branch targets as printed for code without symbols.
std::string disassemble(const Instruction& instruction, Target target);
/// Name of an extension's instruction that LLVM does not support: "simd2.minplus". Empty for other instructions.
std::string_view extension_name(const Instruction& instruction);
/// Reason why the instruction has no executor: "the instruction is not executed", "simd2.minplus needs mfma.extensions =
/// simd2". Empty if it has an executor.
std::string not_executed_reason(const Instruction& instruction);

}  // namespace lacuna::isa
