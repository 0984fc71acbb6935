#include "tests/isa/reference/vector_encoding.h"

#include <sstream>

#include "models/isa/decode/operand.h"

namespace lacuna::isa::test {
namespace {

bool has(const InstructionRow& row, std::uint64_t flag) { return (row.flags & flag) != 0; }
bool vop3_only(const InstructionRow& row) { return row.format == Format::vop3a || row.format == Format::vop3b; }

bool float_signs(const InstructionRow& row, unsigned source) {
  const OperandType t = row.src.types.at(source);
  return (is_float(t) || has(row, kForceModifiers)) && !has(row, kNoModifiers) && !is_packed_16(t) &&
         source < value_sources(row);
}

Encoding random_encoding(const InstructionRow& row, Target target, unsigned r) {
  if (row.format == Format::vop3p) return Encoding::vop3p;
  if (vop3_only(row)) return Encoding::e64;
  const bool sdwa = !has(row, kNoSdwa) && !(target == Target::gfx90a && has(row, kNoGfx9Sdwa)) && !has(row, kHasLiteralOperand);
  const bool dpp = !has(row, kNoDpp) && !returns_mask(row) && !also_returns_mask(row) && !has(row, kHasLiteralOperand);
  switch (r % 8) {
    case 0:
    case 1:
    case 2:
      return has(row, kNoE64) ? Encoding::e32 : Encoding::e64;
    case 3:
      return sdwa ? Encoding::sdwa : Encoding::e32;
    case 4:
      return dpp ? Encoding::dpp : Encoding::e32;
    default:
      return Encoding::e32;
  }
}

unsigned random_constant(std::mt19937_64& generator) {
  const auto r = static_cast<unsigned>(generator() % 24);
  if (r < 9) return kInlineFloat + r;
  return kInlineZero + static_cast<unsigned>(generator() % 81);
}

}  // namespace

unsigned value_sources(const InstructionRow& row) {
  unsigned count = row.src.count;
  while (count > 0 && row.src.types.at(count - 1) == OperandType::lane_mask) --count;
  return count;
}
bool reads_mask(const InstructionRow& row) { return value_sources(row) < row.src.count || has(row, kReadsVcc); }
bool returns_mask(const InstructionRow& row) { return row.dst.types[0] == OperandType::lane_mask; }
bool also_returns_mask(const InstructionRow& row) { return row.dst.count > 1; }

bool mixed_precision(const InstructionRow& row) { return has(row, kMixedPrecision); }

std::string Form::text() const {
  constexpr const char* kNames[] = {"e32", "e64", "sdwa", "dpp", "vop3p"};
  std::ostringstream out;
  out << kNames[static_cast<unsigned>(encoding)] << " src " << source[0] << ',' << source[1] << ',' << source[2] << std::hex
      << " literal 0x" << literal << " neg " << neg << " abs " << abs << " omod " << omod << " clamp " << clamp << " op_sel 0x"
      << op_sel;
  if (encoding == Encoding::sdwa) {
    out << " dst_sel " << dst_sel << " unused " << dst_unused << " sel " << sel[0] << ',' << sel[1] << " sext " << sext[0]
        << sext[1];
  }
  if (encoding == Encoding::vop3p) out << " op_sel_hi " << op_sel_hi << " neg_hi " << neg_hi;
  if (encoding == Encoding::dpp) {
    out << " ctrl 0x" << dpp_ctrl << " banks " << bank_mask << " rows " << row_mask << " bound " << bound_ctrl;
  }
  return out.str();
}

Form random_form(const InstructionRow& row, Target target, std::mt19937_64& generator) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(generator() % n); };
  Form f;
  f.encoding = random_encoding(row, target, pick(8));
  const unsigned count = value_sources(row);
  for (unsigned i = 0; i < count; ++i) f.source[i] = kVgpr0 + kSourceVgpr[i];
  // At most one source is a scalar or a constant, and only if the encoding allows it. A scalar or literal is not used together
  // with a mask that is read or a literal of the row, which occupy the constant bus.
  const bool long_form = f.encoding == Encoding::e64 || f.encoding == Encoding::vop3p;
  const bool full_source = long_form || f.encoding == Encoding::e32;
  const unsigned at = long_form ? pick(count == 0 ? 1 : count) : 0;
  const OperandType type = row.src.types.at(at);
  const bool narrow = words_of(type) <= 2 && type != OperandType::simm32;
  const bool bus_free = !reads_mask(row) && !has(row, kHasLiteralOperand);
  if (count > 0 && full_source && narrow) {
    switch (pick(6)) {
      case 0:
        f.source[at] = random_constant(generator);
        break;
      case 1:
        if (bus_free) f.source[at] = kScalarSource;
        break;
      case 2:
        if (bus_free && f.encoding == Encoding::e32) {
          f.source[at] = kLiteral;
          f.literal = static_cast<std::uint32_t>(generator());
        }
        break;
      default:
        break;
    }
  }
  if (has(row, kHasLiteralOperand)) f.literal = static_cast<std::uint32_t>(generator());

  const bool float_result = is_float(row.dst.types[0]) && !has(row, kNoModifiers);
  const bool vop3b = f.encoding == Encoding::e64 && also_returns_mask(row);
  if (f.encoding == Encoding::e64 || f.encoding == Encoding::sdwa || f.encoding == Encoding::dpp) {
    const unsigned words = f.encoding == Encoding::e64 ? 3 : 2;
    for (unsigned i = 0; i < count && i < words; ++i) {
      if (!float_signs(row, i) || pick(2) == 0) continue;
      const unsigned which = pick(3);
      if (which != 1) f.neg |= 1U << i;
      if (which != 0 && !vop3b) f.abs |= 1U << i;
    }
  }
  if (f.encoding == Encoding::e64) {
    if (float_result && !has(row, kNoOmod) && !is_packed_16(row.dst.types[0]) && pick(3) == 0) f.omod = pick(4);
    f.clamp = (float_result || has(row, kIntegerClamp)) && pick(3) == 0;
    if (has(row, kOpSel) && target == Target::gfx90a) {
      for (unsigned i = 0; i < count; ++i) f.op_sel |= is_16_bit(row.src.types.at(i)) ? pick(2) << i : 0;
      if (is_16_bit(row.dst.types[0])) f.op_sel |= pick(2) << 3;
    }
  }
  if (f.encoding == Encoding::vop3p) {
    const bool moves = row.mnemonic == "v_pk_mov_b32";  // v_pk_mov_b32 has no sign modifiers and no CLAMP
    f.clamp = !moves && pick(4) == 0;
    for (unsigned i = 0; i < count; ++i) {
      f.op_sel |= pick(2) << i;
      f.op_sel_hi |= pick(2) << i;
      if (!is_float(row.src.types.at(i)) || moves) continue;
      f.neg |= pick(2) << i;
      f.neg_hi |= pick(2) << i;
    }
  }
  if (f.encoding == Encoding::sdwa) {
    for (unsigned i = 0; i < 2 && i < count; ++i) {
      f.sel.at(i) = pick(7);
      f.sext.at(i) = !is_float(row.src.types.at(i)) && !has(row, kForceModifiers) && pick(2) == 0;
    }
    // A result that is also an operand is read and written as a whole.
    if (!returns_mask(row) && !has(row, kReadsDst)) {
      f.dst_sel = pick(7);
      f.dst_unused = pick(3);
    }
    f.clamp = !returns_mask(row) && float_result && pick(4) == 0;
    if (target == Target::gfx90a && float_result && !has(row, kNoOmod) && !returns_mask(row) && pick(4) == 0) f.omod = pick(4);
  }
  if (f.encoding == Encoding::dpp) {
    constexpr unsigned kRowShl = 0x100, kRowShr = 0x110, kRowRor = 0x120, kRowMirror = 0x140;
    const unsigned controls[] = {pick(256), kRowShl + 1 + pick(15), kRowShr + 1 + pick(15), kRowRor + 1 + pick(15),
                                 kRowMirror + pick(2)};
    f.dpp_ctrl = controls[pick(5)];
    if (pick(2) == 0) f.bank_mask = pick(16);
    if (pick(2) == 0) f.row_mask = pick(16);
    f.bound_ctrl = pick(2) == 0;
  }
  return f;
}

std::array<std::uint32_t, 3> encode(const InstructionRow& row, Target target, const Form& f) {
  const auto opcode = static_cast<std::uint32_t>(row.opcode[target]);
  const auto second = [&](unsigned i) { return (f.source.at(i) & 0xff) << 9; };
  if (f.encoding == Encoding::e64) {
    std::uint32_t place = opcode;
    if (row.format == Format::vop2) place += kVop3OfVop2;
    if (row.format == Format::vop1) place += kVop3OfVop1;
    const bool mask_source = value_sources(row) < row.src.count;
    const std::uint32_t third = mask_source ? kMaskSource : f.source[2];
    const std::uint32_t middle = also_returns_mask(row) ? kMaskResult << 8 : f.abs << 8 | f.op_sel << 11;
    const std::uint32_t dst = returns_mask(row) ? kMaskResult : kDestinationVgpr;
    return {0xd0000000U | place << 16 | (f.clamp ? 1U << 15 : 0U) | middle | dst,
            f.neg << 29 | f.omod << 27 | third << 18 | f.source[1] << 9 | f.source[0], 0};
  }
  if (f.encoding == Encoding::vop3p) {
    return {0xd3800000U | opcode << 16 | (f.clamp ? 1U << 15 : 0U) | (f.op_sel_hi >> 2 & 1) << 14 | f.op_sel << 11 |
                f.neg_hi << 8 | kDestinationVgpr,
            f.neg << 29 | (f.op_sel_hi & 3) << 27 | f.source[2] << 18 | f.source[1] << 9 | f.source[0], 0};
  }
  std::uint32_t src0 = f.source[0];
  std::uint32_t next = f.literal;
  if (f.encoding == Encoding::sdwa) {
    src0 = kSdwa;
    const std::uint32_t result =
        returns_mask(row) ? 0U : f.dst_sel << 8 | f.dst_unused << 11 | (f.clamp ? 1U << 13 : 0U) | f.omod << 14;
    next = (f.source[0] & 0xff) | result | f.sel[0] << 16 | (f.sext[0] ? 1U << 19 : 0U) | (f.neg & 1) << 20 |
           (f.abs & 1) << 21 | (value_sources(row) > 1 ? f.sel[1] : 0U) << 24 | (f.sext[1] ? 1U << 27 : 0U) |
           (f.neg >> 1 & 1) << 28 | (f.abs >> 1 & 1) << 29;
  } else if (f.encoding == Encoding::dpp) {
    src0 = kDpp;
    next = (f.source[0] & 0xff) | f.dpp_ctrl << 8 | (f.bound_ctrl ? 1U << 19 : 0U) | (f.neg & 1) << 20 | (f.abs & 1) << 21 |
           (f.neg >> 1 & 1) << 22 | (f.abs >> 1 & 1) << 23 | f.bank_mask << 24 | f.row_mask << 28;
  }
  switch (row.format) {
    case Format::vop1:
      return {0x7e000000U | kDestinationVgpr << 17 | opcode << 9 | src0, next, 0};
    case Format::vopc:
      return {0x7c000000U | opcode << 17 | second(1) | src0, next, 0};
    default: {
      // The literal of v_madmk is the second source in the text; the register field holds the third source.
      const bool middle_literal = row.src.types[1] == OperandType::simm32;
      return {opcode << 25 | kDestinationVgpr << 17 | second(middle_literal ? 2 : 1) | src0, next, 0};
    }
  }
}

std::uint64_t constant_bits(unsigned encoding, std::uint32_t literal, OperandType type) {
  const bool wide = words_of(type) == 2 && !has_32_bit_elements(type);
  if (encoding == kLiteral) {
    if (type == OperandType::f64) return std::uint64_t{literal} << 32;
    if (type == OperandType::i64) return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(literal)});
    return literal;
  }
  if (encoding < kInlineFloat) {
    const std::int64_t v = encoding <= 192 ? static_cast<int>(encoding) - 128 : 192 - static_cast<int>(encoding);
    return wide ? static_cast<std::uint64_t>(v) : static_cast<std::uint32_t>(static_cast<std::int32_t>(v));
  }
  // Bit patterns of 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1/(2 pi) in f16, f32 and f64.
  constexpr std::uint32_t k16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
  constexpr std::uint32_t k32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                   0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  constexpr std::uint64_t k64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                   0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                   0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
  const unsigned i = encoding - kInlineFloat;
  if (wide) return k64[i];
  return type == OperandType::f16 || type == OperandType::pk_f16 ? k16[i] : k32[i];
}

}  // namespace lacuna::isa::test
