// A decoded instruction, with the table row that it was decoded from.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/isa/target.h"

namespace lacuna::isa {

struct Wavefront;
struct Instruction;

enum class Format : std::uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3a,
  vop3b,
  vop3p,
  mai,
  ds,
  flat,
  global,
  scratch,
  mubuf,
  mtbuf,
};

/// The unit that executes the instruction in a compute unit (one issue port per unit).
enum class Unit : std::uint8_t { valu, salu, smem, vmem, lds, branch, special, count };
inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::count);

struct UnitText {
  std::string_view name;          ///< name in the output files
  std::string_view instructions;  ///< instructions that the unit executes
};
inline constexpr std::array<UnitText, kUnits> kUnitTexts{{{"valu", "vector ALU instructions"},
                                                          {"salu", "scalar ALU instructions"},
                                                          {"smem", "scalar memory instructions"},
                                                          {"vmem", "vector memory instructions"},
                                                          {"lds", "LDS instructions"},
                                                          {"branch", "branches"},
                                                          {"special", "waits, barriers, ends and other control"}}};

/// Timing class of an instruction. The instruction table assigns it; the cycles of each class are parameters of the compute
/// unit.
enum class LatencyClass : std::uint8_t {
  salu,
  branch,
  smem_load,
  smem_store,
  smem_control,
  valu,
  valu_logic,         ///< integer, bitwise, move, comparison, minimum and maximum; not f64
  valu_f64,           ///< f64, but neither valu_f64_multiply nor valu_transcendental_f64
  valu_f64_multiply,  ///< f64 product, also with an addition
  valu_mul32,
  valu_transcendental,
  valu_transcendental_f64,
  valu_lane /* readlane, readfirstlane */,
  mfma_2_pass,  ///< a pass is four cycles
  mfma_4_pass,
  mfma_8_pass,
  mfma_16_pass,
  lds_load,
  lds_store,
  lds_atomic,
  lds_permute,
  vmem_load,
  vmem_store,
  vmem_atomic,
  vmem_control,
  waitcnt,
  barrier,
  end_program,
  sleep,
  message,
  nop,
  trap,
  count,
};

enum class OperandKind : std::uint8_t {
  none,
  sgpr,      ///< index = operand encoding 0..127 (covers VCC, M0, EXEC, ...)
  vgpr,      ///< index = register
  agpr,      ///< index = register; gfx90a's accumulation registers
  constant,  ///< inline or literal; value holds the bits, already widened to the operand's type
  special,   ///< index = operand encoding of a read-only source that is not a register: SCC, VCCZ, EXECZ, SHARED_BASE, ...
};

/// Type of an operand in the instruction table. Determines its width, how constants are widened and how modifiers apply.
enum class OperandType : std::uint8_t {
  none,
  b8,
  b16,
  u16,
  i16,
  f16,
  b32,
  u32,
  i32,
  f32,
  b64,
  u64,
  i64,
  f64,
  b96,
  b128,
  b256,
  b512,
  lane_mask,  ///< 64-bit mask in an SGPR pair (VCC, carry, compare result)
  pk_f16,
  pk_u16,
  pk_i16,
  pk_f32,
  f32x4,  ///< tuples of 32-bit matrix elements (f32 or i32): 4, 16 or 32 registers
  f32x16,
  f32x32,
  f64x4,  ///< four f64 matrix elements: 8 registers
  simm16,
  simm32,
  label16,
  waitcnt,
  sendmsg,
  hwreg,
  count,
};

struct Operand {
  OperandKind kind = OperandKind::none;
  OperandType type = OperandType::none;
  std::uint8_t words = 0;     ///< number of 32-bit registers
  std::uint8_t encoding = 0;  ///< for printing: the source field's 8 low bits (which inline constant, or 255 = literal)
  std::uint16_t index = 0;
  std::uint64_t value = 0;
};

/// Modifiers of the VOP encodings, SDWA and DPP included; the defaults are those of an instruction without modifiers.
struct VectorModifiers {
  std::uint8_t neg = 0;  ///< bit i: negate source i (after abs)
  std::uint8_t abs = 0;
  std::uint8_t omod = 0;  ///< 0 none, 1 *2, 2 *4, 3 /2
  bool clamp = false;
  /// VOP3: bit i selects the high half of source i, bit 3 the high half of the destination. VOP3P: bit i selects the half
  /// (packed f32: the register) of source i for the operation on the low halves; op_sel_hi selects it for the operation on the
  /// high halves.
  std::uint8_t op_sel = 0;
  std::uint8_t op_sel_hi = 0;
  std::uint8_t neg_hi = 0;                    ///< VOP3P: as neg, for the operation on the high halves
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;  ///< MAI: broadcast of A's blocks, lane pattern of B
  bool sdwa = false;
  bool dpp = false;
  std::uint8_t dst_sel = 6, dst_unused = 0, src0_sel = 6, src1_sel = 6;
  bool src0_sext = false, src1_sext = false;
  std::uint16_t dpp_ctrl = 0;
  std::uint8_t bank_mask = 0xf, row_mask = 0xf;
  bool bound_ctrl = false;
};

/// Fields of the memory encodings.
struct MemoryModifiers {
  std::int32_t offset = 0;  ///< DS: offset0 (read2: offset0 | offset1 << 8); MUBUF: 12 bits; SMEM: 20 or 21; FLAT gfx9: 13
  bool glc = false, slc = false, scc = false, tfe = false, lds = false, gds = false, nv = false;
  bool offen = false, idxen = false;
  std::uint8_t data_format = 0, number_format = 0;  ///< MTBUF
  bool imm = false;                                 ///< SMEM: offset is immediate
};

/// State that an instruction accesses; determines whether it may be executed ahead of its issue.
enum class Reach : std::uint8_t {
  outside,    ///< memory, other wavefronts, or time
  registers,  ///< only registers of its wavefront; EXEC is only read
  lds,        ///< registers and the LDS, by unconditional loads or stores
  nothing,    ///< no state: only makes its wavefront wait
};

using ExecuteFn = void (*)(const Instruction&, Wavefront&);

struct InstructionRow;  // models/isa/decode/table.h
struct MatrixCode;      // models/isa/matrix/matrix_extensions.h

inline constexpr unsigned kMaxDestinations = 2;
inline constexpr unsigned kMaxSources = 4;

/// One decoded instruction. Immutable after decoding; shared by all wavefronts that run it. The members that most executions
/// use come first.
struct Instruction {
  ExecuteFn execute = nullptr;  ///< never null after decoding: rows without an executor get execute_unsupported
  Unit unit = Unit::special;
  LatencyClass latency = LatencyClass::nop;
  Format format = Format::sopp;
  std::uint8_t size = 0;  ///< bytes, including a literal, SDWA or DPP word
  std::uint8_t destinations = 0;
  std::uint8_t sources = 0;
  std::uint8_t passes = 0;       ///< for a matrix instruction, the passes for which it occupies the matrix unit; otherwise 0
  bool plain_vector = false;     ///< VOP without modifiers: the fast executors apply
  Reach reach = Reach::outside;  ///< result of reach_of() (models/isa/analysis/register_use.h)
  std::uint16_t max_vgpr = 0;    ///< one more than the highest VGPR named, 0 if none: must not exceed the allocation
  std::uint16_t max_agpr = 0;    ///< one more than the highest AGPR named, 0 if none: must not exceed the allocation
  std::uint16_t max_sgpr = 0;  ///< one more than the highest of SGPRs 0 to 101 named, 0 if none: must not exceed the allocation
  std::uint16_t profile = 0;   ///< number of the profile (models/isa/analysis/execution_profile.h), set by DecodedCode
  std::int32_t immediate = 0;  ///< SIMM16 of SOPK and SOPP, sign-extended; the literal of s_setreg is a source
  std::array<Operand, kMaxDestinations> dst{};
  std::array<Operand, kMaxSources> src{};
  const InstructionRow* row = nullptr;
  const MatrixCode* matrix_code = nullptr;  ///< MAI: matrix extension code in CBSZ, ABID and BLGP; null: none
  VectorModifiers vop{};
  MemoryModifiers mem{};
  std::array<std::uint32_t, 3> raw{};
};

}  // namespace lacuna::isa
