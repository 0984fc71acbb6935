// Operand fields common to all formats, and the scalar formats SOP1, SOP2, SOPK, SOPC, SOPP.
#include "models/isa/decode_fields.h"
#include "models/isa/operand.h"

namespace lacuna::isa {

std::uint32_t DecodeContext::take_word() {
  if (used >= available) {
    fail("truncated: literal, SDWA or DPP word missing");
    return 0;
  }
  instruction.raw.at(used) = words[used];
  return words[used++];
}

std::uint32_t DecodeContext::take_literal() {
  if (literal_at == 0) {
    const std::uint32_t value = take_word();
    literal_at = used - 1;
    return value;
  }
  return words[literal_at];
}

Operand DecodeContext::vgpr(unsigned index, OperandType type) const {
  Operand operand;
  operand.kind = OperandKind::vgpr;
  operand.type = type;
  operand.words = static_cast<std::uint8_t>(words_of(type));
  operand.index = static_cast<std::uint16_t>(index);
  return operand;
}

Operand DecodeContext::constant(std::uint64_t value, OperandType type) const {
  Operand operand;
  operand.kind = OperandKind::constant;
  operand.type = type;
  operand.value = value;
  return operand;
}

Operand DecodeContext::sgpr(unsigned encoding, OperandType type) {
  Operand operand;
  operand.kind = OperandKind::sgpr;
  operand.type = type;
  operand.words = static_cast<std::uint8_t>(words_of(type));
  operand.encoding = static_cast<std::uint8_t>(encoding);
  operand.index = static_cast<std::uint16_t>(encoding);
  if (encoding > kExecHi || encoding == 125 || (encoding > kM0 && encoding < kExecLo)) {
    fail("operand encoding " + std::to_string(encoding) + " is not a scalar register");
    return operand;
  }
  const unsigned span = operand.words;
  if (span <= 1) return operand;
  // Wider operands must lie within one file, pairs aligned to 2 and larger ones to 4.
  const unsigned alignment = span == 2 ? 2 : 4;
  const unsigned first = encoding < kTtmp0 ? 0U : unsigned{kTtmp0};
  if ((encoding - first) % alignment != 0) fail("scalar register tuple not aligned");
  if (encoding < kFlatScratchLo && encoding + span > kFlatScratchLo) fail("scalar register tuple out of range");
  if (encoding >= kFlatScratchLo && encoding < kTtmp0 && span > 2) fail("scalar register tuple out of range");
  if (encoding >= kTtmp0 && encoding < kM0 && encoding + span > kM0) fail("scalar register tuple out of range");
  if (encoding == kM0) fail("M0 is not a register pair");
  return operand;
}

Operand DecodeContext::scalar_source(unsigned encoding, OperandType type) {
  if (encoding < kInlineZero) return sgpr(encoding, type);
  Operand operand;
  operand.type = type;
  operand.words = static_cast<std::uint8_t>(words_of(type));
  operand.encoding = static_cast<std::uint8_t>(encoding);
  if (is_inline_constant(encoding)) {
    operand.kind = OperandKind::constant;
    operand.value = inline_constant(encoding, type);
  } else if (encoding == kLiteral) {
    operand.kind = OperandKind::constant;
    operand.value = widen_literal(take_literal(), type);
  } else {
    operand.kind = OperandKind::special;
    operand.index = static_cast<std::uint16_t>(encoding);
    const bool aperture = target != Target::gfx803 && encoding >= kSharedBase && encoding <= kPopsWaveId;
    const bool flag = encoding >= kVccz && encoding <= kScc;
    if (encoding == kLdsDirect) {
      instruction.execute = execute_unsupported;
    } else if (!aperture && !flag) {
      fail("operand encoding " + std::to_string(encoding) + " is reserved");
    }
  }
  return operand;
}

Operand DecodeContext::vector_source(unsigned encoding, OperandType type) {
  return encoding >= kVgpr0 ? vgpr(encoding - kVgpr0, type) : scalar_source(encoding, type);
}

void decode_sop1(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  if (context.row.dst.count > 0) context.add_dst() = context.sgpr(bits(word, 16, 7), context.row.dst.types[0]);
  if (context.row.src.count > 0) context.add_src() = context.scalar_source(bits(word, 0, 8), context.row.src.types[0]);
}

void decode_sop2(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  if (context.row.dst.count > 0) context.add_dst() = context.sgpr(bits(word, 16, 7), context.row.dst.types[0]);
  context.add_src() = context.scalar_source(bits(word, 0, 8), context.row.src.types[0]);
  context.add_src() = context.scalar_source(bits(word, 8, 8), context.row.src.types[1]);
}

void decode_sopc(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  context.add_src() = context.scalar_source(bits(word, 0, 8), context.row.src.types[0]);
  // s_setvskip, s_set_gpr_idx_on: the second source field is an immediate or absent on some rows.
  if (context.row.src.count > 1) {
    if (context.row.src.types[1] == OperandType::simm16) {
      context.add_src() = context.constant(bits(word, 8, 8), OperandType::simm16);
    } else {
      context.add_src() = context.scalar_source(bits(word, 8, 8), context.row.src.types[1]);
    }
  }
}

void decode_sopk(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  const InstructionRow& row = context.row;
  const unsigned reg = bits(word, 16, 7);
  const std::uint32_t immediate = bits(word, 0, 16);
  context.instruction.immediate = static_cast<std::int16_t>(immediate);
  if (row.dst.count > 0) context.add_dst() = context.sgpr(reg, row.dst.types[0]);
  for (unsigned i = 0; i < row.src.count; ++i) {
    const OperandType type = row.src.types[i];
    if (type == OperandType::simm16 || type == OperandType::hwreg || type == OperandType::label16) {
      context.add_src() = context.constant(immediate, type);
    } else if (type == OperandType::simm32) {
      context.add_src() = context.constant(context.take_literal(), type);
    } else {
      context.add_src() = context.sgpr(reg, type);
    }
  }
}

void decode_sopp(DecodeContext& context) {
  const std::uint32_t immediate = bits(context.words[0], 0, 16);
  context.instruction.immediate = static_cast<std::int16_t>(immediate);
  if (context.row.src.count > 0) context.add_src() = context.constant(immediate, context.row.src.types[0]);
}

}  // namespace lacuna::isa
