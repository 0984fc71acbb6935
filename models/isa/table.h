// The instruction table: one row per instruction of gfx803 and gfx90a.
//
// Decoder, disassembler, register-use information, coverage report and timing classes all come from it. A generation
// difference is an opcode column or a second row, never a copied file. Rows live in the file of their encoding format
// (sop.cpp, smem.cpp, vop1.cpp, ...), beside the executors that they name.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "models/isa/instruction.h"

namespace lacuna::isa {

inline constexpr std::int16_t kAbsent = -1;

/// Opcode of the row's format on each target; kAbsent where the target has no such instruction.
struct Opcodes {
  std::int16_t gfx803 = kAbsent;
  std::int16_t gfx90a = kAbsent;
  constexpr std::int16_t operator[](Target t) const { return t == Target::gfx803 ? gfx803 : gfx90a; }
};

enum RowFlags : std::uint32_t {
  kNoFlags = 0,
  kWritesScc = 1u << 0,
  kReadsScc = 1u << 1,
  kWritesVcc = 1u << 2,      ///< implicit VCC destination (VOP2 carry, VOPC e32)
  kReadsVcc = 1u << 3,
  kWritesExec = 1u << 4,     ///< v_cmpx, s_*_saveexec
  kReadsM0 = 1u << 5,
  kOtimes = 1u << 6,         ///< (x) instruction: the result does not depend on one operand when the other is zero (specs: LazyGPU 4.3)
  kCommutes = 1u << 7,
  kReadsDst = 1u << 8,       ///< mac/fmac, sdwa preserve, v_movreld: destination is also a source
  kBranch = 1u << 9,
  kNoSdwa = 1u << 10,
  kNoDpp = 1u << 11,
  kApproximate = 1u << 12,   ///< result within a documented bound, not bit-exact: listed in the coverage report
  kHasLiteralOperand = 1u << 13,  ///< v_madmk/v_madak, s_setreg_imm32: a 32-bit literal always follows
};

struct OperandTypes {
  std::array<OperandType, kMaxSources> types{};
  std::uint8_t count = 0;
  constexpr OperandTypes() = default;
  constexpr OperandTypes(std::initializer_list<OperandType> list) {
    for (const OperandType t : list) types[count++] = t;
  }
};

struct InstructionRow {
  std::string_view mnemonic;   ///< without _e32/_e64/_sdwa/_dpp
  Format format;
  Opcodes opcode;
  OperandTypes dst;
  OperandTypes src;
  Unit unit;
  LatencyClass latency;
  std::uint32_t flags;
  /// nullptr: known to the table, not executable; running it is an error naming the mnemonic.
  ExecuteFn execute;
};

/// All rows, grouped by format.
std::span<const InstructionRow> rows(Format format);

}  // namespace lacuna::isa
