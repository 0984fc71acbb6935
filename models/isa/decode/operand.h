// Operand types and scalar operands: the width of a type, the meaning of an inline constant for it, and reading of sources.
#pragma once

#include <cstdint>

#include "models/isa/decode/instruction.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// Number of 32-bit registers that an operand of this type spans (0 for none and for immediates without a register).
constexpr unsigned words_of(OperandType type) {
  switch (type) {
    case OperandType::none:
    case OperandType::simm16:
    case OperandType::simm32:
    case OperandType::label16:
    case OperandType::waitcnt:
    case OperandType::sendmsg:
    case OperandType::hwreg:
    case OperandType::count:
      return 0;
    case OperandType::b8:
    case OperandType::b16:
    case OperandType::u16:
    case OperandType::i16:
    case OperandType::f16:
    case OperandType::b32:
    case OperandType::u32:
    case OperandType::i32:
    case OperandType::f32:
    case OperandType::pk_f16:
    case OperandType::pk_u16:
    case OperandType::pk_i16:
      return 1;
    case OperandType::b64:
    case OperandType::u64:
    case OperandType::i64:
    case OperandType::f64:
    case OperandType::pk_f32:
    case OperandType::lane_mask:
      return 2;
    case OperandType::b96:
      return 3;
    case OperandType::b128:
    case OperandType::f32x4:
      return 4;
    case OperandType::b256:
    case OperandType::f64x4:
      return 8;
    case OperandType::b512:
    case OperandType::f32x16:
      return 16;
    case OperandType::f32x32:
      return 32;
  }
  return 0;
}

constexpr bool is_float(OperandType type) {
  return type == OperandType::f16 || type == OperandType::f32 || type == OperandType::f64 || type == OperandType::pk_f16 ||
         type == OperandType::pk_f32;
}
/// Whether constants of the type are 32-bit values although its operands span more registers.
constexpr bool has_32_bit_elements(OperandType type) {
  return type == OperandType::pk_f32 || type == OperandType::f32x4 || type == OperandType::f32x16 ||
         type == OperandType::f32x32;
}
constexpr bool is_packed_16(OperandType type) {
  return type == OperandType::pk_f16 || type == OperandType::pk_u16 || type == OperandType::pk_i16;
}
constexpr bool is_16_bit(OperandType type) {
  return type == OperandType::b16 || type == OperandType::u16 || type == OperandType::i16 || type == OperandType::f16;
}
/// Whether the type is a 16-bit integer, packed or not.
constexpr bool is_16_bit_integer(OperandType type) {
  return (is_16_bit(type) && type != OperandType::f16) || type == OperandType::pk_u16 || type == OperandType::pk_i16;
}

/// Source encodings (GCN3 ISA manual, table "Scalar operands").
enum SourceEncoding : unsigned {
  kInlineZero = 128,
  kInlineLast = 208,
  kSharedBase = 235,
  kPopsWaveId = 239,
  kInlineFloat = 240,
  kInlineInv2Pi = 248,
  kSdwa = 249,
  kDpp = 250,
  kVccz = 251,
  kExecz = 252,
  kScc = 253,
  kLdsDirect = 254,
  kLiteral = 255,
  kVgpr0 = 256,
};

constexpr bool is_inline_constant(unsigned encoding) {
  return (encoding >= kInlineZero && encoding <= kInlineLast) || (encoding >= kInlineFloat && encoding <= kInlineInv2Pi);
}

/// Bits of an inline constant as an operand of `type`, 32 or 64 bits: integers are sign-extended, floats are in the operand's
/// format. For f16, packed or not, the high half is zero; 16-bit integer operands receive the f32 pattern (LLVM,
/// getInlineEncodingV216 and the comments of SIInstrInfo::isInlineConstant on the hardware).
std::uint64_t inline_constant(unsigned encoding, OperandType type);

/// A 32-bit literal as an operand of `type`: the high half of an f64, sign-extended for i64, zero-extended for u64 and b64.
std::uint64_t widen_literal(std::uint32_t literal, OperandType type);

/// Value of a source that is neither a register nor a constant (SCC, VCCZ, EXECZ, apertures).
std::uint32_t read_special(unsigned encoding, const Wavefront& wave);
/// As read_special(), for a 64-bit operand: apertures are whole addresses (clang uses the high half of s_mov_b64 from
/// src_shared_base).
std::uint64_t read_special64(unsigned encoding, const Wavefront& wave);

inline std::uint32_t read_scalar32(const Operand& operand, const Wavefront& wave) {
  if (operand.kind == OperandKind::sgpr) return wave.sgpr[operand.index];
  if (operand.kind == OperandKind::constant) return static_cast<std::uint32_t>(operand.value);
  return read_special(operand.index, wave);
}

inline std::uint64_t read_scalar64(const Operand& operand, const Wavefront& wave) {
  if (operand.kind == OperandKind::sgpr) return wave.read64(operand.index);
  if (operand.kind == OperandKind::constant) return operand.value;
  return read_special64(operand.index, wave);
}

/// Executor of rows that name none, and of forms that are not supported: raises Event::illegal_instruction.
void execute_unsupported(const Instruction& instruction, Wavefront& wave);

}  // namespace lacuna::isa
