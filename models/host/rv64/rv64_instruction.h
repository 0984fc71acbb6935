// A decoded RV64 instruction, and the straight-line block that the executor runs.
#pragma once

#include <cstdint>

#include "models/host/rv64/rv64_operations.h"

namespace lacuna::rv64 {

class ExecutionContext;
struct Instruction;

/// Executes *instruction and continues with the next instruction of the block.
using Handler = void (*)(ExecutionContext& context, const Instruction* instruction);

/// Index of the register that replaces a destination x0.
inline constexpr std::uint8_t kDiscard = 32;

struct Instruction {
  Handler handler = nullptr;
  /// Sign-extended immediate; absolute address for Format::pc_u, b, j and end_of_block; CSR number for Format::csr.
  std::uint64_t immediate = 0;
  std::uint32_t bits = 0;  ///< as fetched: 16 or 32 bits
  std::uint8_t rd = 0;
  std::uint8_t rs1 = 0;
  std::uint8_t rs2 = 0;
  std::uint8_t rs3 = 0;
  std::uint16_t offset = 0;  ///< bytes from the start of the block
  std::uint8_t length = 4;
  std::uint8_t cycles = 0;
  std::uint8_t rounding = 0;
  Operation operation = Operation::illegal;
};
static_assert(sizeof(Instruction) == 32, "two instructions per cache line of the host");

struct Block {
  std::uint64_t pc = 1;       ///< odd = empty: never equal to a program counter
  std::uint64_t end = 0;      ///< address after the last instruction
  std::uint64_t time_ps = 0;  ///< time of all instructions
  std::uint64_t count = 0;    ///< number of guest instructions
  const Instruction* first = nullptr;
};

}  // namespace lacuna::rv64
