// The instruction table: one row per instruction of gfx803 and gfx90a.
//
// Decoder, disassembler, register-use information, coverage report and timing classes are all derived from it. A difference
// between generations is an opcode column or a second row, never a copied file. Rows are in the file of their encoding format
// (sop2.cpp, smem.cpp, vop1.cpp, ...), together with the executors that they name.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "models/isa/decode/instruction.h"

namespace lacuna::isa {

inline constexpr std::int16_t kAbsent = -1;

/// Opcode of the row's format on each target; kAbsent where the target has no such instruction.
struct Opcodes {
  std::int16_t gfx803 = kAbsent;
  std::int16_t gfx90a = kAbsent;
  constexpr std::int16_t operator[](Target t) const { return t == Target::gfx803 ? gfx803 : gfx90a; }
};

constexpr Opcodes both(int opcode) { return {static_cast<std::int16_t>(opcode), static_cast<std::int16_t>(opcode)}; }
constexpr Opcodes gfx8_only(int opcode) { return {static_cast<std::int16_t>(opcode), kAbsent}; }
constexpr Opcodes gfx9_only(int opcode) { return {kAbsent, static_cast<std::int16_t>(opcode)}; }

enum RowFlags : std::uint64_t {
  kNoFlags = 0,
  kWritesScc = 1u << 0,
  kReadsScc = 1u << 1,
  kWritesVcc = 1u << 2,  ///< implicit VCC destination (VOP2 carry, VOPC e32)
  kReadsVcc = 1u << 3,
  kWritesExec = 1u << 4,  ///< v_cmpx, s_*_saveexec
  kReadsM0 = 1u << 5,
  kWritesM0 = 1u << 6,  ///< M0 is written in addition to destinations: it holds the state of VGPR indexing
  kCommutes = 1u << 7,
  kReadsDst = 1u << 8,  ///< destination is also a source: mac/fmac, v_movreld, d16 loads
  kBranch = 1u << 9,
  kNoSdwa = 1u << 10,
  kNoDpp = 1u << 11,
  kApproximate = 1u << 12,        ///< result within a documented bound, not bit-exact: listed in the coverage report
  kHasLiteralOperand = 1u << 13,  ///< v_madmk/v_madak, s_setreg_imm32: a 32-bit literal always follows
  kScalarDst = 1u << 14,          ///< vector instruction whose destination field names an SGPR: v_readlane, v_readfirstlane
  kNoEncodingSuffix = 1u << 15,   ///< VOP1/VOP2/VOPC row that is printed without _e32: v_readfirstlane, v_madmk, v_nop
  kE64Suffix = 1u << 16,          ///< VOP3-only row that is printed with _e64
  kNoE64 = 1u << 17,              ///< VOP1/VOP2/VOPC row without a VOP3 encoding
  kIntegerClamp = 1u << 18,       ///< VOP3 CLAMP is legal although the operands are integers
  kNoModifiers = 1u << 19,        ///< VOP3 NEG/ABS/OMOD/CLAMP must be zero although the operands are floating point
  kForceModifiers = 1u << 20,     ///< VOP3 NEG/ABS are legal although the operands are not floating point: v_cndmask_b32
  kReadsExec = 1u << 22,          ///< scalar instruction that reads EXEC as a value; vector instructions always read EXEC
  kGdsOnly = 1u << 23,            ///< DS instruction that exists with GDS = 1 only
  kTwoOffsets = 1u << 24,         ///< DS instruction with two 8-bit offsets instead of one 16-bit offset
  kLdsForm = 1u << 25,            ///< MUBUF load that can write to LDS instead of VGPRs
  kRegisterSource = 1u << 26,     ///< SOP1 whose source cannot be a constant
  kNoGds = 1u << 27,              ///< DS instruction that exists with GDS = 0 only
  kMixedPrecision = 1u << 30,     ///< v_fma_mix*: OP_SEL_HI selects the sources that are f16, NEG_HI is ABS
  kReadsAccumulator = 1u << 31,   ///< the source is an AGPR: v_accvgpr_read_b32, v_accvgpr_mov_b32
  kIgnoresSigns = 1ull << 32,     ///< NEG and ABS bits are legal, without effect: integer dot products
  kNoGfx9Sdwa = 1ull << 33,       ///< no SDWA form on gfx9: v_mac
  kWritesSource = 1u << 29,       ///< the source is also written: v_swap_b32
  kOpSel = 1u << 28,              ///< VOP3 OP_SEL is legal: 16-bit operands may be high halves
  kNoOmod = 1u << 21,             ///< VOP3 OMOD must be zero although the result is floating point
  kZeroByIeee = 1ull << 34,       ///< the row's zero pairs hold by IEEE 754 only: see makes_irrelevant()
  kSignExtends = 1ull << 35,      ///< vector memory load of 8 or 16 bits that sign-extends to the rest of the register
  kConvertsFormat = 1ull << 36,   ///< the data are converted to or from a buffer format: *_format_*
};

/// Flag of a row: in lanes in which source `zero` is zero, source `other` does not affect the result (LazyGPU, ISCA '25,
/// section 4.3: instructions marked (x)).
constexpr std::uint64_t zero_pair(unsigned zero, unsigned other) { return std::uint64_t{1} << (48 + 4 * zero + other); }
/// All zero pairs.
inline constexpr std::uint64_t kZeroPairs = ~std::uint64_t{0} << 48;
/// Zero pairs of instructions that multiply or AND their first two sources: integers, and floating point in which zero times
/// anything is zero.
inline constexpr std::uint64_t kFactors = zero_pair(0, 1) | zero_pair(1, 0);
/// Zero pairs of instructions that multiply their first two sources according to IEEE 754.
inline constexpr std::uint64_t kFloatFactors = kFactors | kZeroByIeee;

struct OperandTypes {
  std::array<OperandType, kMaxSources> types{};
  std::uint8_t count = 0;
  constexpr OperandTypes() = default;
  constexpr OperandTypes(std::initializer_list<OperandType> list) {
    for (const OperandType t : list) types[count++] = t;
  }
};

/// Meaning of the operand lists, by format (sources are in the order in which they are printed):
///  VOP1/VOP2/VOPC, VOP3A/B: `lane_mask` in dst is VCC in the short encodings and an SGPR pair in VOP3; likewise as the
///    third source of VOP2 (v_addc, v_cndmask). `simm32` marks the place of the literal (v_madmk: {f32, simm32, f32}).
///  SOPK: a source of type simm16, hwreg, label16 is the SIMM16 field, simm32 the literal, anything else the SDST field.
///  SMEM: dst {data}; src {base, offset[, data]}.  DS: dst {data}; src {address, data0, data1}.
///  FLAT, GLOBAL, SCRATCH: dst {data}; src {address, data}, and for GLOBAL and SCRATCH an SGPR or none.
///  MUBUF, MTBUF: dst {data}; src {address, descriptor, soffset, data}.
///  An atomic has its destination only when GLC is set; DS has separate rows for it (ds_*_rtn).
struct InstructionRow {
  std::string_view mnemonic;  ///< without _e32/_e64/_sdwa/_dpp
  Format format;
  Opcodes opcode;
  OperandTypes dst;
  OperandTypes src;
  Unit unit;
  LatencyClass latency;
  std::uint64_t flags;
  /// nullptr: the instruction is in the table but not executable; executing it is an error that names the mnemonic.
  ExecuteFn execute;
};

/// Condition under which a source that is zero makes another source irrelevant.
enum class ZeroPair : std::uint8_t {
  none,
  exact,  ///< always: no bit of the result depends on the other source
  ieee    ///< unless the other source is NaN or infinite; and if the result is zero, its sign may depend on the other source's
};
/// Returns the condition under which source `other` is irrelevant in lanes in which source `zero` is zero. Source `zero` is
/// tested as the lane reads it, after SDWA, DPP and OP_SEL: +0 or -0 for floating point, both halves for packed sources.
/// Sources that no flag of the row names, including the old destination, are always relevant. A test verifies all rows by
/// executing them.
constexpr ZeroPair makes_irrelevant(const InstructionRow& row, unsigned zero, unsigned other) {
  if ((row.flags & zero_pair(zero, other)) == 0) return ZeroPair::none;
  return (row.flags & kZeroByIeee) != 0 ? ZeroPair::ieee : ZeroPair::exact;
}

/// The rows of a format, for all targets. Rows of VOP3 are listed under vop3a.
std::span<const InstructionRow> rows(Format format);

/// The row of `opcode` in an encoding format, or nullptr. With `format` vop3a or vop3b, rows of VOPC, VOP2 and VOP1 are found
/// as well, at their positions in the VOP3 opcode space (GCN3 ISA manual, "VOP3 opcodes").
const InstructionRow* find_row(Format format, unsigned opcode, Target target);

/// Adds instructions of a research machine, of any format, that the targets do not have. All decoders of the process then
/// recognise them; rows() does not list them. `rows` must remain valid until the program ends; adding the same array again has
/// no effect. Throws std::logic_error if an opcode is already used. Must not be called while another thread decodes.
void add_instructions(std::span<const InstructionRow> rows);

inline constexpr unsigned kVop3OfVop2 = 0x100;
inline constexpr unsigned kVop3OfVop1 = 0x140;

/// Every format, for listings of the table.
std::span<const Format> all_formats();
std::string_view format_name(Format format);

}  // namespace lacuna::isa
