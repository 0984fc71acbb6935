// Decodes the operand fields common to all formats, and the scalar formats SOP1, SOP2, SOPK, SOPC and SOPP.
#include "models/isa/decode/decode_fields.h"
#include "models/isa/decode/operand.h"

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

Operand DecodeContext::vgpr(unsigned index, OperandType type) {
  Operand operand;
  operand.kind = OperandKind::vgpr;
  operand.type = type;
  operand.words = static_cast<std::uint8_t>(words_of(type));
  operand.index = static_cast<std::uint16_t>(index);
  constexpr unsigned kNameable = 256;
  if (index + operand.words > kNameable) fail("vector register tuple out of range");
  return operand;
}

Operand DecodeContext::vgpr_or_agpr(bool accumulator, unsigned index, OperandType type) {
  Operand operand = vgpr(index, type);
  if (accumulator) operand.kind = OperandKind::agpr;
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
  // The hardware ignores the low bits of a register tuple's number: pairs are aligned to 2, larger tuples to 4.
  const unsigned alignment = span == 2 ? 2 : 4;
  const unsigned first_ttmp = traits(target).first_ttmp;
  const bool special = encoding >= kFlatScratchLo && (encoding < first_ttmp || encoding >= kM0);
  if (special && encoding % 2 != 0) fail("odd half of a special register pair");
  encoding &= ~(alignment - 1);
  operand.encoding = static_cast<std::uint8_t>(encoding);
  operand.index = static_cast<std::uint16_t>(encoding);
  if (encoding < kFlatScratchLo && encoding + span > kFlatScratchLo) fail("scalar register tuple out of range");
  if (encoding >= kFlatScratchLo && encoding < first_ttmp && span > 2) fail("scalar register tuple out of range");
  if (encoding >= first_ttmp && encoding < kM0 && encoding + span > kM0) fail("scalar register tuple out of range");
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
    if (!aperture && !flag) {
      fail("operand encoding " + std::to_string(encoding) + " is reserved");
    }
  }
  return operand;
}

Operand DecodeContext::vector_source(unsigned encoding, OperandType type) {
  if (encoding >= kVgpr0) return vgpr(encoding - kVgpr0, type);
  if (encoding != kLdsDirect || words_of(type) != 1) return scalar_source(encoding, type);
  Operand operand;
  operand.kind = OperandKind::special;
  operand.type = type;
  operand.index = static_cast<std::uint16_t>(encoding);
  instruction.execute = execute_unsupported;
  return operand;
}

void decode_sop1(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  if (context.row.dst.count > 0) context.add_dst() = context.sgpr(bits(word, 16, 7), context.row.dst.types[0]);
  if (context.row.src.count == 0) return;
  const Operand source = context.scalar_source(bits(word, 0, 8), context.row.src.types[0]);
  if ((context.row.flags & kRegisterSource) != 0 && source.kind == OperandKind::constant) context.fail("source is a constant");
  context.add_src() = source;
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
  // The second source field of s_set_gpr_idx_on is an immediate.
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
  if (context.row.src.count > 0) {
    context.add_src() = context.constant(immediate, context.row.src.types[0]);
  } else {
    context.unused(immediate);
  }
}

}  // namespace lacuna::isa
