// Decodes the fields of VOP1, VOP2 and VOPC, and of their VOP3, SDWA and DPP forms.
#include <algorithm>

#include "models/isa/decode/decode_fields.h"
#include "models/isa/decode/operand.h"

namespace lacuna::isa {
namespace {

Operand vcc(DecodeContext& context) { return context.sgpr(kVccLo, OperandType::lane_mask); }

// Checks the modifiers of SDWA and DPP: NEG and ABS are for floating-point sources, SEXT (SDWA only) for integers.
void check_short_modifiers(DecodeContext& context) {
  const InstructionRow& row = context.row;
  VectorModifiers& vop = context.instruction.vop;
  if ((row.flags & kIgnoresSigns) != 0) vop.neg = vop.abs = 0;
  const std::array sext{vop.src0_sext, vop.src1_sext};
  for (unsigned i = 0; i < sext.size(); ++i) {
    const bool sign = ((vop.neg | vop.abs) >> i & 1) != 0;
    const bool number = i < row.src.count && (is_float(row.src.types[i]) || (row.flags & kForceModifiers) != 0);
    if (sext.at(i) && (number || i >= row.src.count)) return context.fail("SEXT of a source that is not an integer");
    if (sign && !number) return context.fail("NEG or ABS of a source that has no sign");
  }
}

bool has_wide_operand(const InstructionRow& row) {
  const auto wide = [](const OperandTypes& types) {
    return std::any_of(types.types.begin(), types.types.end(),
                       [](OperandType type) { return words_of(type) > 1 && type != OperandType::lane_mask; });
  };
  return wide(row.dst) || wide(row.src);
}

// Whether OMOD is legal: for floating-point results, which it scales by a power of two, and for conversions from a float to an
// integer.
bool takes_omod(const InstructionRow& row) {
  if ((row.flags & (kNoModifiers | kNoOmod)) != 0) return false;
  if (row.dst.count > 0 && is_float(row.dst.types[0])) return true;
  return row.format == Format::vop1 && row.src.count > 0 && is_float(row.src.types[0]);
}

// SDWA word (GCN3 ISA manual, "SDWA"); gfx9 adds OMOD, SGPR sources and, for VOPC, an SGPR destination.
void decode_sdwa(DecodeContext& context, unsigned vsrc1) {
  Instruction& instruction = context.instruction;
  const InstructionRow& row = context.row;
  VectorModifiers& vop = instruction.vop;
  const bool gfx9 = context.target != Target::gfx803;
  if ((row.flags & kNoSdwa) != 0 || (gfx9 && (row.flags & kNoGfx9Sdwa) != 0)) return context.fail("no SDWA form");
  const std::uint32_t word = context.take_word();
  const bool compare = row.format == Format::vopc;
  vop.sdwa = true;
  if (compare && gfx9) {
    if (bit(word, 15)) instruction.dst[0] = context.sgpr(bits(word, 8, 7), OperandType::lane_mask);
  } else {
    if (!compare) {
      vop.dst_sel = static_cast<std::uint8_t>(bits(word, 8, 3));
      vop.dst_unused = static_cast<std::uint8_t>(bits(word, 11, 2));
    }
    vop.clamp = bit(word, 13);
    if (gfx9) vop.omod = static_cast<std::uint8_t>(bits(word, 14, 2));
    if (vop.omod != 0 && !(takes_omod(row) && is_float(row.dst.types[0]))) {
      return context.fail("OMOD of a result that is not a float");
    }
  }
  vop.src0_sel = static_cast<std::uint8_t>(bits(word, 16, 3));
  vop.src0_sext = bit(word, 19);
  vop.src1_sel = static_cast<std::uint8_t>(bits(word, 24, 3));
  vop.src1_sext = bit(word, 27);
  vop.neg = static_cast<std::uint8_t>(bits(word, 20, 1) | bits(word, 28, 1) << 1);
  vop.abs = static_cast<std::uint8_t>(bits(word, 21, 1) | bits(word, 29, 1) << 1);
  for (const unsigned select : {vop.dst_sel, vop.src0_sel, vop.src1_sel}) {
    if (select == 7) return context.fail("reserved SDWA selector");
  }
  if (vop.dst_unused == 3) return context.fail("reserved SDWA DST_UNUSED");
  const auto source = [&](unsigned field, bool scalar, OperandType type) {
    if (!gfx9 || !scalar) return context.vgpr(field, type);
    if (field == kLiteral) context.fail("literal source in SDWA");
    return context.vector_source(field == kLiteral ? unsigned{kInlineZero} : field, type);
  };
  check_short_modifiers(context);
  if (row.src.count < 2) context.unused(bits(word, 24, 6) | (gfx9 ? bits(word, 31, 1) : 0));
  if (row.src.count > 0) context.add_src() = source(bits(word, 0, 8), bit(word, 23), row.src.types[0]);
  if (row.src.count > 1) context.add_src() = source(vsrc1, bit(word, 31), row.src.types[1]);
}

constexpr bool is_row_newbcast(unsigned control) { return control >= 0x150 && control < 0x160; }

// Legal values of DPP_CTRL: quad permutations, row shifts and rotations by 1 to 15, wave shifts and rotations by 1, mirrors and
// broadcasts; gfx90a can broadcast any lane of a row.
constexpr bool is_dpp_control(unsigned control, Target target) {
  if (control <= 0xff) return true;
  if (control < 0x130) return (control & 0xf) != 0;
  if (target == Target::gfx90a && is_row_newbcast(control)) return true;
  return control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c || (control >= 0x140 && control <= 0x143);
}

void decode_dpp(DecodeContext& context, unsigned vsrc1) {
  Instruction& instruction = context.instruction;
  const InstructionRow& row = context.row;
  VectorModifiers& vop = instruction.vop;
  // On gfx90a, DPP supports 64-bit operands as well, but only with row_newbcast.
  const bool wide = context.target == Target::gfx90a && has_wide_operand(row);
  if (((row.flags & kNoDpp) != 0 && !wide) || row.format == Format::vopc) return context.fail("no DPP form");
  const std::uint32_t word = context.take_word();
  vop.dpp = true;
  vop.dpp_ctrl = static_cast<std::uint16_t>(bits(word, 8, 9));
  if (!is_dpp_control(vop.dpp_ctrl, context.target)) return context.fail("reserved DPP control");
  if (wide && !is_row_newbcast(vop.dpp_ctrl)) instruction.execute = execute_unsupported;
  vop.bound_ctrl = bit(word, 19);
  vop.neg = static_cast<std::uint8_t>(bits(word, 20, 1) | bits(word, 22, 1) << 1);
  vop.abs = static_cast<std::uint8_t>(bits(word, 21, 1) | bits(word, 23, 1) << 1);
  vop.bank_mask = static_cast<std::uint8_t>(bits(word, 24, 4));
  vop.row_mask = static_cast<std::uint8_t>(bits(word, 28, 4));
  check_short_modifiers(context);
  if (row.src.count > 0) context.add_src() = context.vgpr(bits(word, 0, 8), row.src.types[0]);
  if (row.src.count > 1) context.add_src() = context.vgpr(vsrc1, row.src.types[1]);
}

// Sources of the 32-bit encodings: SRC0 may be any operand, VSRC1 is a VGPR, a lane mask is VCC, a literal is a separate word.
void decode_short_sources(DecodeContext& context, unsigned src0, unsigned vsrc1) {
  const InstructionRow& row = context.row;
  if (src0 == kSdwa) {
    decode_sdwa(context, vsrc1);
  } else if (src0 == kDpp) {
    decode_dpp(context, vsrc1);
  } else {
    context.instruction.plain_vector = true;
    unsigned position = 0;
    for (unsigned i = 0; i < row.src.count; ++i) {
      const OperandType type = row.src.types[i];
      if (type == OperandType::lane_mask) break;
      if (type == OperandType::simm32) {
        const OperandType as = row.dst.types[0];
        context.add_src() = context.constant(is_16_bit(as) ? context.take_literal() & 0xffff : context.take_literal(), as);
        context.instruction.src[i].encoding = kLiteral;
      } else if (position++ == 0) {
        context.add_src() = context.vector_source(src0, type);
      } else {
        context.add_src() = context.vgpr(vsrc1, type);
      }
    }
  }
  for (unsigned i = 0; i < row.src.count; ++i) {
    if (row.src.types[i] == OperandType::lane_mask) context.add_src() = vcc(context);
  }
}

// NEG, ABS, OMOD and CLAMP bits that the instruction does not use must be zero.
void check_vop3_modifiers(DecodeContext& context) {
  const InstructionRow& row = context.row;
  VectorModifiers& vop = context.instruction.vop;
  const bool none = (row.flags & kNoModifiers) != 0;
  const auto takes_sign = [&](unsigned i) {
    if (i >= row.src.count || none || row.src.types[i] == OperandType::lane_mask) return false;
    return is_float(row.src.types[i]) || (row.flags & kForceModifiers) != 0;
  };
  const bool any = takes_sign(0) || takes_sign(1) || takes_sign(2);
  for (unsigned i = 0; i < 3; ++i) {
    if ((((vop.neg | vop.abs) >> i) & 1) == 0 || takes_sign(i)) continue;
    // If there are floating-point sources as well, or if OP_SEL shares the field in LLVM, the bits of an integer source are
    // ignored.
    const bool ignored = (any || (row.flags & (kOpSel | kIgnoresSigns)) != 0) && row.format != Format::vopc &&
                         i < row.src.count && row.src.types[i] != OperandType::lane_mask;
    if (!ignored) return context.fail("NEG or ABS of a source that has no sign");
    vop.neg = static_cast<std::uint8_t>(vop.neg & ~(1U << i));
    vop.abs = static_cast<std::uint8_t>(vop.abs & ~(1U << i));
  }
  const bool float_result = row.dst.count > 0 && is_float(row.dst.types[0]) && !none;
  if (vop.omod != 0 && !takes_omod(row)) context.fail("OMOD of a result that is not a float");
  const bool float_compare = row.format == Format::vopc && is_float(row.src.types[1]) && !none;
  if (vop.clamp && !float_result && !float_compare && (row.flags & kIntegerClamp) == 0) context.fail("CLAMP not supported");
}

}  // namespace

void decode_vop1(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  const InstructionRow& row = context.row;
  if (row.dst.count > 0) {
    const unsigned field = bits(word, 17, 8);
    context.add_dst() =
        (row.flags & kScalarDst) != 0 ? context.sgpr(field, row.dst.types[0]) : context.vgpr(field, row.dst.types[0]);
  }
  if (row.dst.count == 0) context.unused(bits(word, 17, 8));
  if (row.src.count == 0) return;  // v_nop: the source field is not checked, as in LLVM
  if ((row.flags & (kReadsAccumulator | kWritesSource)) != 0) {
    // Moves within one register file: the source field can only name a register of this file.
    const bool accumulators = (row.flags & kReadsAccumulator) != 0;
    if (accumulators) context.instruction.dst[0].kind = OperandKind::agpr;
    context.add_src() = context.vgpr_or_agpr(accumulators, bits(word, 0, 8), row.src.types[0]);
    return;
  }
  decode_short_sources(context, bits(word, 0, 9), 0);
}

void decode_vop2(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  const InstructionRow& row = context.row;
  if (row.dst.count > 0) {
    const unsigned field = bits(word, 17, 8);
    context.add_dst() =
        (row.flags & kScalarDst) != 0 ? context.sgpr(field, row.dst.types[0]) : context.vgpr(field, row.dst.types[0]);
  }
  if (row.dst.count > 1) context.add_dst() = vcc(context);
  if (row.dst.count > 0 && row.dst.types[0] == OperandType::pk_f16)
    context.instruction.vop.op_sel_hi = 7;  // halves are not exchanged
  decode_short_sources(context, bits(word, 0, 9), bits(word, 9, 8));
}

void decode_vopc(DecodeContext& context) {
  const std::uint32_t word = context.words[0];
  context.add_dst() = vcc(context);
  decode_short_sources(context, bits(word, 0, 9), bits(word, 9, 8));
}

void decode_vop3(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  Instruction& instruction = context.instruction;
  VectorModifiers& vop = instruction.vop;

  // An instruction with a second destination is VOP3B: SDST replaces ABS.
  const bool scalar_result = row.dst.count > 1;
  instruction.format = scalar_result ? Format::vop3b : Format::vop3a;
  vop.clamp = bit(low, 15);
  vop.omod = static_cast<std::uint8_t>(bits(high, 27, 2));
  vop.neg = static_cast<std::uint8_t>(bits(high, 29, 3));
  if (!scalar_result) {
    vop.abs = static_cast<std::uint8_t>(bits(low, 8, 3));
    const unsigned op_sel = bits(low, 11, 4);
    if ((row.flags & kOpSel) != 0) {
      if (((op_sel & 7) >> row.src.count) != 0) return context.fail("OP_SEL of a source that is not there");
      vop.op_sel = static_cast<std::uint8_t>(op_sel);
    } else if (op_sel != 0) {
      instruction.execute = execute_unsupported;  // reserved bits, which LLVM's disassembler does not check
    }
  }
  check_vop3_modifiers(context);

  const unsigned vdst = bits(low, 0, 8);
  if (row.dst.count == 0) context.unused(vdst);
  if (row.dst.count > 0) {
    const bool scalar = row.dst.types[0] == OperandType::lane_mask || (row.flags & kScalarDst) != 0;
    context.add_dst() = scalar ? context.sgpr(vdst, row.dst.types[0]) : context.vgpr(vdst, row.dst.types[0]);
  }
  if (scalar_result) context.add_dst() = context.sgpr(bits(low, 8, 7), row.dst.types[1]);
  for (unsigned i = row.src.count; i < 3; ++i) context.unused(bits(high, i * 9, 9));
  for (unsigned i = 0; i < row.src.count && i < 3; ++i) {
    const unsigned field = bits(high, i * 9, 9);
    if (field == kLiteral || field == kSdwa || field == kDpp) return context.fail("literal, SDWA or DPP source in VOP3");
    context.add_src() = context.vector_source(field, row.src.types[i]);
  }
  instruction.plain_vector = vop.neg == 0 && vop.abs == 0 && vop.omod == 0 && !vop.clamp && vop.op_sel == 0;
}

}  // namespace lacuna::isa
