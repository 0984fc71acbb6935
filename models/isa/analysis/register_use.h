// The registers that an instruction reads and writes, from its table row and its operands: for hazard and scoreboard models,
// checkers and the coverage report.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

/// `count` consecutive registers of one file. SGPR numbers are operand encodings, which include VCC, M0 and EXEC.
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

/// Registers of the explicit operands and of the implicit operands (VCC, EXEC, M0, SCC; EXEC for every vector instruction). For
/// M0-relative moves, only the base register.
RegisterUse register_use(const Instruction& instruction);

/// State that the instruction accesses. An instruction raises events only if its reach is `outside` or `nothing`.
Reach reach_of(const Instruction& instruction);

/// Numbers of registers of each kind allocated to a wavefront, below 2^15 each. Packed, so that one subtraction compares them
/// with the registers that an instruction names; every executed instruction is checked.
class Allocation {
 public:
  constexpr Allocation() : Allocation(0, 0) {}
  constexpr Allocation(unsigned vgprs, unsigned sgprs, unsigned agprs = 0)
      : packed_(pack(vgprs, agprs, sgprs, kRest) | kEnough) {}
  /// Whether the allocation contains all registers that the instruction names; otherwise the instruction is illegal.
  constexpr bool holds(const Instruction& i) const {
    return ((packed_ - pack(i.max_vgpr, i.max_agpr, i.max_sgpr, i.profile)) & kEnough) == kEnough;
  }

 private:
  static constexpr std::uint64_t pack(unsigned vgprs, unsigned agprs, unsigned sgprs, unsigned rest) {
    return vgprs | std::uint64_t{agprs} << 16 | std::uint64_t{sgprs} << 32 | std::uint64_t{rest} << 48;
  }
  static constexpr unsigned kRest = 0xffff;
  /// Guard bits, one above each count: a bit remains set if the subtracted number is at most the count.
  static constexpr std::uint64_t kEnough = 0x8000'8000'8000;

  std::uint64_t packed_;
};

}  // namespace lacuna::isa
