// Decodes the fields of VOP3P (gfx90a): packed and mixed-precision arithmetic, and the matrix instructions (MAI) in the same
// encoding.
#include "models/isa/decode/decode_fields.h"
#include "models/isa/decode/operand.h"

namespace lacuna::isa {
namespace {

bool has_literal(unsigned field) { return field == kLiteral || field == kSdwa || field == kDpp; }

}  // namespace

void decode_vop3p(DecodeContext& context) {
  const InstructionRow& row = context.row;
  if (row.format == Format::mai) return decode_mai(context);
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  Instruction& instruction = context.instruction;
  VectorModifiers& vop = instruction.vop;
  instruction.format = Format::vop3p;
  vop.neg_hi = static_cast<std::uint8_t>(bits(low, 8, 3));
  vop.op_sel = static_cast<std::uint8_t>(bits(low, 11, 3));
  vop.op_sel_hi = static_cast<std::uint8_t>(bits(high, 27, 2) | bits(low, 14, 1) << 2);
  vop.clamp = bit(low, 15);
  vop.neg = static_cast<std::uint8_t>(bits(high, 29, 3));
  const bool mixed = (row.flags & kMixedPrecision) != 0;
  if (mixed) {
    vop.abs = vop.neg_hi;
    vop.neg_hi = 0;
  }
  context.add_dst() = context.vgpr(bits(low, 0, 8), row.dst.types[0]);
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned field = bits(high, i * 9, 9);
    if (i >= row.src.count) {
      context.unused(field);
      context.unused(((vop.neg | vop.neg_hi | vop.op_sel) >> i) & 1);
      continue;
    }
    if (has_literal(field)) return context.fail("literal, SDWA or DPP source in VOP3P");
    // NEG and NEG_HI must be zero for sources that are 16-bit integers, except for the first source, whose bits LLVM ignores.
    if (i > 0 && is_16_bit_integer(row.src.types[i])) context.unused(((vop.neg | vop.neg_hi) >> i) & 1);
    // A constant of a mixed-precision instruction has the format that OP_SEL_HI specifies for the operand.
    const bool f32_source = mixed && ((vop.op_sel_hi >> i) & 1) == 0;
    context.add_src() = context.vector_source(field, f32_source ? OperandType::f32 : row.src.types[i]);
  }
}

void decode_mai(DecodeContext& context) {
  const std::uint32_t low = context.words[0];
  const std::uint32_t high = context.words[1];
  const InstructionRow& row = context.row;
  Instruction& instruction = context.instruction;
  VectorModifiers& vop = instruction.vop;
  instruction.format = Format::mai;
  const unsigned vdst = bits(low, 0, 8);
  const auto matrix_input = [&](unsigned i) {
    const unsigned field = bits(high, i * 9, 9);
    if (field < kVgpr0) context.fail("matrix operand is not a vector register");
    return context.vgpr_or_agpr(bit(high, 27 + i), field & 0xff, row.src.types[i]);
  };
  if (row.src.count == 1) {  // moves between VGPRs and AGPRs
    context.unused(bits(low, 8, 6) | bits(high, 9, 18) | bits(high, 29, 3));
    const bool reads = (row.flags & kReadsAccumulator) != 0;
    context.add_dst() = context.vgpr_or_agpr(!reads, vdst, row.dst.types[0]);
    const unsigned field = bits(high, 0, 9);
    if (has_literal(field)) return context.fail("literal source in VOP3P");
    context.add_src() =
        reads ? context.vgpr_or_agpr(true, field & 0xff, row.src.types[0]) : context.vector_source(field, row.src.types[0]);
    return;
  }
  const bool accumulates_in_agprs = bit(low, 15);
  vop.cbsz = static_cast<std::uint8_t>(bits(low, 8, 3));
  vop.abid = static_cast<std::uint8_t>(bits(low, 11, 4));
  vop.blgp = static_cast<std::uint8_t>(bits(high, 29, 3));
  context.add_dst() = context.vgpr_or_agpr(accumulates_in_agprs, vdst, row.dst.types[0]);
  context.add_src() = matrix_input(0);
  context.add_src() = matrix_input(1);
  const unsigned field = bits(high, 18, 9);
  if (field >= kVgpr0) {
    context.add_src() = context.vgpr_or_agpr(accumulates_in_agprs, field & 0xff, row.src.types[2]);
  } else if (is_inline_constant(field)) {
    context.add_src() = context.scalar_source(field, row.src.types[2]);
  } else {
    context.fail("accumulator is neither a vector register nor an inline constant");
  }
}

}  // namespace lacuna::isa
