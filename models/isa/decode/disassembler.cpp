#include <array>
#include <string>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/disassemble_operand.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {
namespace {

class Printer {
 public:
  Printer(const Instruction& instruction, Target target) : i_(instruction), row_(*instruction.row), target_(target) {}

  std::string text() {
    text_ = row_.mnemonic;
    switch (i_.format) {
      case Format::sop1:
      case Format::sop2:
        scalar_operands();
        break;
      case Format::sopc:
        sopc();
        break;
      case Format::sopk:
        immediates();
        break;
      case Format::sopp:
        immediates();
        break;
      case Format::smem:
        smem();
        break;
      case Format::ds:
        ds();
        break;
      case Format::flat:
      case Format::global:
      case Format::scratch:
        flat();
        break;
      case Format::mubuf:
      case Format::mtbuf:
        buffer();
        break;
      default:
        vector();
        break;
    }
    return std::move(text_);
  }

 private:
  // The literal follows the encoding; instructions have at most one.
  std::uint32_t literal() const { return i_.raw.at(i_.size / 4U - 1); }

  void add(const std::string& operand) {
    text_ += operands_++ == 0 ? " " : ", ";
    text_ += operand;
  }
  void flag(bool set, const char* name) {
    if (set) text_.append(" ").append(name);
  }

  std::string plain(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::none:
        return "off";
      case OperandKind::vgpr:
        return vector_register(operand.index, operand.words);
      case OperandKind::agpr:
        return vector_register(operand.index, operand.words).replace(0, 1, "a");
      case OperandKind::sgpr:
        return scalar_register(operand.index, operand.words, target_);
      case OperandKind::constant:
        return immediate(operand);
      case OperandKind::special:
        return special(operand.index);
    }
    return "?";
  }

  std::string immediate(const Operand& operand) const {
    const auto value = static_cast<unsigned>(operand.value);
    switch (operand.type) {
      case OperandType::simm16:
        return format_simm16(value);
      case OperandType::label16:
        return std::to_string(value);
      case OperandType::waitcnt:
        return waitcnt_text(value, target_);
      case OperandType::sendmsg:
        return sendmsg_text(value, target_);
      case OperandType::hwreg:
        return hwreg_text(value, target_);
      case OperandType::simm32:
        return hexadecimal(value);
      default:
        return constant_text(operand, literal());
    }
  }
  std::string format_simm16(unsigned value) const {
    constexpr unsigned kDecimalUpTo = 64;
    return i_.format == Format::sopk || value > kDecimalUpTo ? hexadecimal(value) : std::to_string(value);
  }

  static std::string special(unsigned encoding) {
    static constexpr std::array<const char*, 5> kApertures{"src_shared_base", "src_shared_limit", "src_private_base",
                                                           "src_private_limit", "src_pops_exiting_wave_id"};
    switch (encoding) {
      case kVccz:
        return "src_vccz";
      case kExecz:
        return "src_execz";
      case kScc:
        return "src_scc";
      case kLdsDirect:
        return "src_lds_direct";
      default:
        return kApertures.at(encoding - kSharedBase);
    }
  }

  void scalar_operands() {
    for (unsigned d = 0; d < i_.destinations; ++d) add(plain(i_.dst[d]));
    for (unsigned s = 0; s < i_.sources; ++s) add(plain(i_.src[s]));
  }

  void sopc() {
    add(plain(i_.src[0]));
    if (i_.sources < 2) return;
    add(i_.src[1].type == OperandType::simm16 ? gpr_index_text(static_cast<unsigned>(i_.src[1].value)) : plain(i_.src[1]));
  }

  void immediates() {
    for (unsigned d = 0; d < i_.destinations; ++d) add(plain(i_.dst[d]));
    for (unsigned s = 0; s < i_.sources; ++s) {
      const Operand& source = i_.src[s];
      if (source.type == OperandType::simm32) {
        Operand as_literal = source;
        as_literal.type = OperandType::b32;
        as_literal.encoding = kLiteral;
        add(constant_text(as_literal, literal()));
      } else if (row_.mnemonic == "s_set_gpr_idx_mode") {
        add(gpr_index_text(static_cast<unsigned>(source.value)));
      } else if (i_.latency == LatencyClass::end_program) {
        if (source.value != 0) add(std::to_string(source.value));
      } else {
        add(plain(source));
      }
    }
  }

  void smem() {
    if (i_.sources == 0) {
      if (i_.destinations != 0) add(plain(i_.dst[0]));
      return;
    }
    if (i_.destinations != 0) add(plain(i_.dst[0]));
    if (i_.sources > 2) add(i_.src[2].type == OperandType::simm16 ? probe_text() : plain(i_.src[2]));
    add(plain(i_.src[0]));
    const std::string offset = signed_hexadecimal(i_.mem.offset);
    const bool scalar = i_.src[1].kind == OperandKind::sgpr;
    add(scalar ? plain(i_.src[1]) : offset);
    if (scalar && i_.mem.imm) text_ += " offset:" + offset;
    flag(i_.mem.glc && i_.latency != LatencyClass::smem_control, "glc");
  }
  static std::string signed_hexadecimal(std::int32_t value) {
    return value < 0 ? "-" + hexadecimal(static_cast<unsigned>(-value)) : hexadecimal(static_cast<unsigned>(value));
  }

  // s_atc_probe's immediate prints in decimal when it is small.
  std::string probe_text() const {
    Operand operand = i_.src[2];
    operand.type = OperandType::b32;
    return constant_text(operand, 0);
  }

  void ds() {
    for (unsigned d = 0; d < i_.destinations; ++d) add(plain(i_.dst[d]));
    for (unsigned s = 0; s < i_.sources; ++s) {
      if (i_.src[s].kind != OperandKind::none) add(plain(i_.src[s]));
    }
    const auto offset = static_cast<unsigned>(i_.mem.offset);
    if (row_.mnemonic == "ds_swizzle_b32") {
      text_ += swizzle_text(offset);
    } else if ((row_.flags & kTwoOffsets) != 0) {
      if ((offset & 0xff) != 0) text_ += " offset0:" + std::to_string(offset & 0xff);
      if (offset >> 8 != 0) text_ += " offset1:" + std::to_string(offset >> 8);
    } else if (offset != 0) {
      text_ += " offset:" + std::to_string(offset);
    }
    flag(i_.mem.gds, "gds");
  }

  void flat() {
    for (unsigned d = 0; d < i_.destinations; ++d) add(plain(i_.dst[d]));
    for (unsigned s = 0; s < i_.sources; ++s) add(plain(i_.src[s]));
    if (i_.mem.offset != 0) text_ += " offset:" + std::to_string(i_.mem.offset);
    flag(i_.mem.glc, "glc");
    flag(i_.mem.slc, "slc");
    flag(i_.mem.scc, "scc");
    flag(i_.mem.lds, "lds");
  }

  void buffer() {
    if (i_.sources == 0) return;
    if (i_.destinations != 0) {
      add(plain(i_.dst[0]));
    } else if (i_.sources > 3) {
      add(plain(i_.src[3]));
    }
    const bool from_lds = row_.src.types[0] == OperandType::none;
    if (!from_lds) add(plain(i_.src[0]));
    add(plain(i_.src[1]));
    add(plain(i_.src[2]));
    if (i_.format == Format::mtbuf) text_ += buffer_format_text(i_.mem.data_format, i_.mem.number_format);
    flag(i_.mem.idxen, "idxen");
    flag(i_.mem.offen, "offen");
    if (i_.mem.offset != 0) text_ += " offset:" + std::to_string(i_.mem.offset);
    flag(from_lds, "lds");
    flag(i_.mem.glc, "glc");
    flag(i_.mem.slc, "slc");
    flag(i_.mem.scc, "scc");
    flag(i_.mem.lds && !from_lds, "lds");
    flag(i_.mem.tfe, "tfe");
  }

  void suffix() {
    if (i_.format == Format::vop3p || i_.format == Format::mai) return;
    const bool short_row = row_.format != Format::vop3a && row_.format != Format::vop3b;
    if (i_.vop.sdwa) {
      text_ += sdwa_suffix();
    } else if (i_.vop.dpp) {
      text_ += "_dpp";
    } else if (i_.format == Format::vop3a || i_.format == Format::vop3b) {
      if ((short_row && (row_.flags & kNoEncodingSuffix) == 0) || (row_.flags & kE64Suffix) != 0) text_ += "_e64";
    } else if ((row_.flags & kNoEncodingSuffix) == 0) {
      text_ += "_e32";
    }
  }
  // The SDWA form of gfx8 compares has no suffix in LLVM's syntax: the selectors distinguish it.
  const char* sdwa_suffix() const { return row_.format == Format::vopc && target_ == Target::gfx803 ? "" : "_sdwa"; }

  static std::string wrapped(const char* before, const std::string& text, const char* after) {
    return std::string(before).append(text).append(after);
  }

  std::string with_modifiers(unsigned s) const {
    const Operand& source = i_.src[s];
    if (s < row_.src.count && row_.src.types[s] == OperandType::simm32) return hexadecimal(literal());
    const bool packed = i_.format == Format::vop3p && (row_.flags & kMixedPrecision) == 0;  // signs print as lists at the end
    const bool neg = !packed && (i_.vop.neg >> s & 1) != 0;
    const bool abs = (i_.vop.abs >> s & 1) != 0;
    const bool sext = i_.vop.sdwa && ((s == 0 && i_.vop.src0_sext) || (s == 1 && i_.vop.src1_sext));
    Operand shown = source;
    // SDWA has one type for both sources: the integer exponent of v_ldexp_f16 prints as an f16.
    if (i_.vop.sdwa && s == 1 && source.type == OperandType::i16 && row_.src.types[0] == OperandType::f16) {
      shown.type = OperandType::f16;
      if (is_inline_constant(source.encoding)) shown.value = inline_constant(source.encoding, OperandType::f16);
    }
    std::string text = plain(shown);
    if (sext) return wrapped("sext(", text, ")");
    if (abs) text = wrapped("|", text, "|");
    if (!neg) return text;
    return source.kind == OperandKind::constant && !abs ? wrapped("neg(", text, ")") : wrapped("-", text, "");
  }

  void vector() {
    suffix();
    for (unsigned d = 0; d < i_.destinations; ++d) add(plain(i_.dst[d]));
    for (unsigned s = 0; s < i_.sources; ++s) add(with_modifiers(s));
    if (i_.vop.dpp) return dpp();
    if (i_.format == Format::mai) return matrix();
    packed();
    flag(i_.vop.clamp, "clamp");
    static constexpr std::array<const char*, 4> kOmod{"", " mul:2", " mul:4", " div:2"};
    text_ += kOmod.at(i_.vop.omod);
    if (i_.vop.sdwa) sdwa();
  }

  // Appends a list of bits: one per source, followed by a bit for the result if the modifier has one.
  void list(const char* name, unsigned bits, unsigned count) {
    text_.append(" ").append(name).append(":[");
    for (unsigned i = 0; i < count; ++i) text_.append(i == 0 ? "" : ",").append((bits >> i & 1) != 0 ? "1" : "0");
    text_ += "]";
  }

  void packed() {
    const VectorModifiers& vop = i_.vop;
    const unsigned sources = row_.src.count;
    if (i_.format != Format::vop3p) {
      constexpr unsigned kResult = 3;
      if (vop.op_sel == 0) return;
      return list("op_sel", (vop.op_sel & ((1U << sources) - 1)) | (vop.op_sel >> kResult) << sources, sources + 1);
    }
    const bool mixed = (row_.flags & kMixedPrecision) != 0;
    const unsigned all = (1U << sources) - 1;
    if (vop.op_sel != 0) list("op_sel", vop.op_sel, sources);
    if ((vop.op_sel_hi & all) != (mixed ? 0 : all)) list("op_sel_hi", vop.op_sel_hi, sources);
    if (!mixed && vop.neg != 0) list("neg_lo", vop.neg, sources);
    if (!mixed && vop.neg_hi != 0) list("neg_hi", vop.neg_hi, sources);
  }

  void matrix() {
    const auto field = [&](const char* name, unsigned value) {
      if (value != 0) text_.append(" ").append(name).append(":").append(std::to_string(value));
    };
    field("cbsz", i_.vop.cbsz);
    field("abid", i_.vop.abid);
    field("blgp", i_.vop.blgp);
  }

  void dpp() {
    text_.append(" ").append(dpp_control_text(i_.vop.dpp_ctrl));
    text_ += " row_mask:" + hexadecimal(i_.vop.row_mask);
    text_ += " bank_mask:" + hexadecimal(i_.vop.bank_mask);
    if (i_.vop.bound_ctrl) text_ += " bound_ctrl:1";
  }

  void sdwa() {
    static constexpr std::array<const char*, 8> kSelect{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                        "WORD_0", "WORD_1", "DWORD",  "?"};
    static constexpr std::array<const char*, 4> kUnused{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
    if (row_.format != Format::vopc && i_.destinations != 0) {
      text_.append(" dst_sel:").append(kSelect.at(i_.vop.dst_sel));
      text_.append(" dst_unused:").append(kUnused.at(i_.vop.dst_unused));
    }
    if (row_.src.count > 0) text_.append(" src0_sel:").append(kSelect.at(i_.vop.src0_sel));
    if (row_.src.count > 1) text_.append(" src1_sel:").append(kSelect.at(i_.vop.src1_sel));
  }

  const Instruction& i_;
  const InstructionRow& row_;
  Target target_;
  std::string text_;
  unsigned operands_ = 0;
};

}  // namespace

std::string disassemble(const Instruction& instruction, Target target) { return Printer(instruction, target).text(); }

}  // namespace lacuna::isa
