// Runs atomics of DS, FLAT, GLOBAL, MUBUF and SMEM through decoder and executor against their reference functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/isa/decode/table.h"

namespace lacuna::isa::test {

struct AtomicInputs {
  std::uint64_t old = 0;       ///< value in memory before the operation
  std::uint64_t a = 0, b = 0;  ///< data operands in the instruction's order
  std::uint32_t mode = 0;
  bool in_lds = false;
};

struct AtomicReference {
  std::string mnemonic;
  OperandType type;  ///< type of the datum in memory
  unsigned data;     ///< number of data operands: 0 (the second datum is in LDS too), 1, 2
  std::uint64_t (*reference)(const AtomicInputs&);
};

/// Whether the row is an atomic operation. Those of scalar memory are recognised by their names, since they have no separate
/// timing class.
bool is_atomic(const InstructionRow& row);

std::span<const AtomicReference> atomic_references();

/// Runs every executable row with this mnemonic on both targets, with and without the old value returned; reports mismatches in
/// memory and registers as test failures. Returns the number of rows run, counted once for each target.
unsigned check_atomic_rows(const AtomicReference& entry);

}  // namespace lacuna::isa::test
