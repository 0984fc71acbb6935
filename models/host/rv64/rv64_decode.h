// RV64GC decoder, from encoding to Instruction. No state, no SystemC.
#pragma once

#include <cstdint>
#include <optional>

#include "models/host/rv64/rv64_instruction.h"

namespace lacuna::rv64 {

struct OperationTraits {
  Operation operation;
  std::uint32_t match;
  std::uint32_t mask;
  Format format;
  Class klass;
};

/// The table row of an operation; the added rows (illegal, end_of_block, breakpoint) have format none and class system.
const OperationTraits& traits(Operation operation);

/// Decodes the instruction at `pc` whose first parcel is in bits 15:0 of `bits` (and the second in bits 31:16 when bits 1:0 are
/// 3). Reserved encodings, including reserved static rounding modes, decode to Operation::illegal. Handler, offset and cycles
/// are set by the block builder.
Instruction decode(std::uint32_t bits, std::uint64_t pc);

/// The 32-bit encoding of a 16-bit instruction (RV64 with C, F and D); nullopt if it is reserved. Source: RISC-V manual volume
/// I, chapter 16.
std::optional<std::uint32_t> expand_compressed(std::uint16_t bits);

}  // namespace lacuna::rv64
