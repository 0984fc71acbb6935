// Bytes to instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/isa/instruction.h"

namespace lacuna::isa {

/// Decodes one instruction from `words` (at least 1, at most 3 are looked at). Returns the instruction, or false in `ok` with
/// `error` saying why ("unknown VOP2 opcode 61", "truncated: literal missing").
struct DecodeResult {
  bool ok = false;
  Instruction instruction;
  std::string error;
};
DecodeResult decode(const std::uint32_t* words, std::size_t available, Target target);

/// Text as `llvm-objdump-16 -d` prints it, branch targets as it prints them without symbols.
std::string disassemble(const Instruction& instruction, Target target);

}  // namespace lacuna::isa
