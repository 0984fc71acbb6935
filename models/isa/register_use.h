// Which registers an instruction reads and writes, from its table row and its operands: for hazard and scoreboard models,
// checkers and the coverage report.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/instruction.h"

namespace lacuna::isa {

/// `count` consecutive registers of one file. SGPR numbers are operand encodings, so that VCC, M0 and EXEC appear as such.
struct RegisterRange {
  OperandKind file = OperandKind::none;  ///< sgpr, vgpr or agpr
  std::uint16_t first = 0;
  std::uint16_t count = 0;
  bool operator==(const RegisterRange&) const = default;
};

struct RegisterUse {
  static constexpr unsigned kMaxReads = 10;
  static constexpr unsigned kMaxWrites = 6;
  std::array<RegisterRange, kMaxReads> reads{};
  std::array<RegisterRange, kMaxWrites> writes{};
  std::uint8_t read_count = 0;
  std::uint8_t write_count = 0;
  bool reads_scc = false;
  bool writes_scc = false;
};

/// Explicit operands and implicit ones (VCC, EXEC, M0, SCC; EXEC of every vector instruction). M0-relative moves name their
/// base register only.
RegisterUse register_use(const Instruction& instruction);

/// Of the instructions whose reach is not `outside`, those that make their wavefront wait raise an event, no others.
Reach reach_of(const Instruction& instruction);

/// True when the instruction names a register beyond the wavefront's allocation: an illegal instruction.
constexpr bool exceeds_allocation(const Instruction& instruction, unsigned vgprs, unsigned sgprs, unsigned agprs = 0) {
  return instruction.max_vgpr > vgprs || instruction.max_sgpr > sgprs || instruction.max_agpr > agprs;
}

}  // namespace lacuna::isa
