#include "models/isa/decode/disassemble_operand.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>
#include <string_view>

#include "models/isa/decode/operand.h"

namespace lacuna::isa {
namespace {

std::string number(unsigned value) { return std::to_string(value); }

std::string range(const char* prefix, unsigned first, unsigned words) {
  if (words <= 1) return prefix + number(first);
  std::string text = prefix;
  text.append("[").append(number(first)).append(":").append(number(first + words - 1)).append("]");
  return text;
}

struct NamedPair {
  unsigned low;
  std::string_view name;
};
constexpr std::array kPairs{NamedPair{kFlatScratchLo, "flat_scratch"},
                            NamedPair{kXnackMaskLo, "xnack_mask"},
                            NamedPair{kVccLo, "vcc"},
                            NamedPair{kTbaLo, "tba"},
                            NamedPair{kTmaLo, "tma"},
                            NamedPair{kExecLo, "exec"}};

// Inline constants that print as floats, in the order of encodings 240 to 248.
constexpr std::array<std::string_view, 9> kFloatNames{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};

std::optional<unsigned> inline_float(std::uint64_t bits, OperandType type) {
  for (unsigned encoding = kInlineFloat; encoding <= kInlineInv2Pi; ++encoding) {
    if (inline_constant(encoding, type) == bits) return encoding - kInlineFloat;
  }
  return std::nullopt;
}

}  // namespace

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string scalar_register(unsigned encoding, unsigned words, Target target) {
  const unsigned first_ttmp = traits(target).first_ttmp;
  if (encoding < kFlatScratchLo) return range("s", encoding, words);
  if (encoding == kM0) return "m0";
  if (encoding >= first_ttmp && encoding < kM0) return range("ttmp", encoding - first_ttmp, words);
  const auto pair = std::find_if(kPairs.begin(), kPairs.end(),
                                 [&](const NamedPair& p) { return encoding == p.low || encoding == p.low + 1; });
  if (pair == kPairs.end()) return "?";
  std::string text{pair->name};
  if (words <= 1) text += encoding == pair->low ? "_lo" : "_hi";
  return text;
}

std::string vector_register(unsigned index, unsigned words) { return range("v", index, words); }

std::string constant_text(const Operand& operand, std::uint32_t literal) {
  const bool is_literal = operand.encoding == kLiteral;
  const OperandType type = operand.type;
  // 64-bit operands print the literal's 32 bits, whatever value the operation widens them to; 16-bit integers print the f16
  // pattern.
  const bool integer_16 = is_16_bit_integer(type);
  std::uint64_t bits = is_literal ? literal : operand.value;
  if (integer_16 && operand.encoding >= kInlineFloat && !is_literal) bits = inline_constant(operand.encoding, OperandType::f16);
  if (is_16_bit(type) || (is_literal && is_packed_16(type))) bits &= 0xffff;
  std::int64_t integer = static_cast<std::int64_t>(bits);
  if (is_16_bit(type)) {
    integer = static_cast<std::int16_t>(bits);
  } else if (words_of(type) <= 1 || has_32_bit_elements(type)) {
    integer = static_cast<std::int32_t>(bits);
  }
  if (integer >= -16 && integer <= 64) return std::to_string(integer);
  if (integer_16) return hexadecimal(bits);
  if (const auto which = inline_float(bits, type)) {
    return words_of(type) >= 2 && !has_32_bit_elements(type) && *which == 8 ? "0.15915494309189532"
                                                                            : std::string(kFloatNames.at(*which));
  }
  return hexadecimal(bits);
}

// Counter fields of s_waitcnt: gfx9 has two more bits of vmcnt at the top.
std::string waitcnt_text(unsigned simm16, Target target) {
  const bool wide = traits(target).vmcnt_bits > 4;
  const unsigned vmcnt = (simm16 & 0xf) | (wide ? simm16 >> 14 << 4 : 0);
  const unsigned expcnt = simm16 >> 4 & 7;
  const unsigned lgkmcnt = simm16 >> 8 & 0xf;
  const bool no_vm = vmcnt == (wide ? 63U : 15U);
  const bool no_exp = expcnt == 7;
  const bool no_lgkm = lgkmcnt == 15;
  const bool all = no_vm && no_exp && no_lgkm;
  std::string text;
  const auto add = [&](const char* name, unsigned value) {
    if (!text.empty()) text += " ";
    text.append(name).append("(").append(number(value)).append(")");
  };
  if (!no_vm || all) add("vmcnt", vmcnt);
  if (!no_exp || all) add("expcnt", expcnt);
  if (!no_lgkm || all) add("lgkmcnt", lgkmcnt);
  return text;
}

std::string hwreg_text(unsigned simm16, Target target) {
  static constexpr std::array<std::string_view, 8> kNames{"",
                                                          "HW_REG_MODE",
                                                          "HW_REG_STATUS",
                                                          "HW_REG_TRAPSTS",
                                                          "HW_REG_HW_ID",
                                                          "HW_REG_GPR_ALLOC",
                                                          "HW_REG_LDS_ALLOC",
                                                          "HW_REG_IB_STS"};
  static constexpr std::array<std::string_view, 6> kGfx9Names{"HW_REG_SH_MEM_BASES", "HW_REG_TBA_LO", "HW_REG_TBA_HI",
                                                              "HW_REG_TMA_LO",       "HW_REG_TMA_HI", ""};
  constexpr unsigned kShMemBases = 15;
  const unsigned id = simm16 & 0x3f;
  const unsigned offset = simm16 >> 6 & 0x1f;
  const unsigned width = (simm16 >> 11 & 0x1f) + 1;
  std::string text = "hwreg(";
  std::string_view name;
  if (id < kNames.size()) name = kNames.at(id);
  if (target != Target::gfx803 && id >= kShMemBases && id - kShMemBases < kGfx9Names.size())
    name = kGfx9Names.at(id - kShMemBases);
  text += name.empty() ? number(id) : std::string(name);
  if (offset != 0 || width != 32) text.append(", ").append(number(offset)).append(", ").append(number(width));
  return text + ")";
}

std::string sendmsg_text(unsigned simm16, Target target) {
  static constexpr std::array<std::string_view, 16> kNames{"",
                                                           "MSG_INTERRUPT",
                                                           "MSG_GS",
                                                           "MSG_GS_DONE",
                                                           "MSG_SAVEWAVE",
                                                           "MSG_STALL_WAVE_GEN",
                                                           "MSG_HALT_WAVES",
                                                           "MSG_ORDERED_PS_DONE",
                                                           "MSG_EARLY_PRIM_DEALLOC",
                                                           "MSG_GS_ALLOC_REQ",
                                                           "MSG_GET_DOORBELL",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           "MSG_SYSMSG"};
  static constexpr std::array<std::string_view, 4> kGsOperations{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
  static constexpr std::array<std::string_view, 5> kSystemOperations{"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD",
                                                                     "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"};
  constexpr unsigned kGs = 2;
  constexpr unsigned kGsDone = 3;
  constexpr unsigned kSaveWave = 4;
  constexpr unsigned kSystem = 15;
  const unsigned id = simm16 & 0xf;
  const unsigned operation = simm16 >> 4 & 7;
  const unsigned stream = simm16 >> 8 & 3;
  const bool rest_is_zero = (simm16 & ~0x37fU) == 0;

  std::string_view name = kNames.at(id);
  if (target == Target::gfx803 && id > kSaveWave && id != kSystem) name = {};
  if (!name.empty()) {
    std::string text = "sendmsg(" + std::string(name);
    if (id == kGs || id == kGsDone) {
      const bool nop = operation == 0;
      const bool legal = operation < kGsOperations.size() && (id == kGs ? !nop : true) && !(nop && stream != 0);
      if (legal) {
        text.append(", ").append(kGsOperations.at(operation));
        if (!nop) text.append(", ").append(number(stream));
        return text + ")";
      }
    } else if (id == kSystem) {
      if (operation >= 1 && operation < kSystemOperations.size() && stream == 0) {
        return text.append(", ").append(kSystemOperations.at(operation)).append(")");
      }
    } else if (operation == 0 && stream == 0) {
      return text + ")";
    }
  }
  if (!rest_is_zero) return number(simm16);
  std::string text = "sendmsg(";
  return text.append(number(id)).append(", ").append(number(operation)).append(", ").append(number(stream)).append(")");
}

std::string gpr_index_text(unsigned modes) {
  static constexpr std::array<std::string_view, 4> kNames{"SRC0", "SRC1", "SRC2", "DST"};
  if (modes > 0xf) return hexadecimal(modes);
  std::string text = "gpr_idx(";
  bool first = true;
  for (unsigned i = 0; i < kNames.size(); ++i) {
    if ((modes >> i & 1) == 0) continue;
    if (!first) text += ",";
    text += kNames.at(i);
    first = false;
  }
  return text + ")";
}

std::string swizzle_text(unsigned offset) {
  if (offset == 0) return "";
  constexpr unsigned kFive = 0x1f;
  std::string text = " offset:";
  if ((offset & 0xff00) == 0x8000) {
    text += "swizzle(QUAD_PERM";
    for (unsigned i = 0; i < 4; ++i) text.append(",").append(number(offset >> (2 * i) & 3));
    return text + ")";
  }
  if ((offset & 0x8000) != 0) return text + number(offset);
  const unsigned and_mask = offset & kFive;
  const unsigned or_mask = offset >> 5 & kFive;
  const unsigned xor_mask = offset >> 10 & kFive;
  const unsigned group = kFive - and_mask + 1;
  if (and_mask == kFive && or_mask == 0 && std::has_single_bit(xor_mask)) {
    return text.append("swizzle(SWAP,").append(number(xor_mask)).append(")");
  }
  if (and_mask == kFive && or_mask == 0 && xor_mask > 0 && std::has_single_bit(xor_mask + 1)) {
    return text.append("swizzle(REVERSE,").append(number(xor_mask + 1)).append(")");
  }
  if (group > 1 && std::has_single_bit(group) && or_mask < group && xor_mask == 0) {
    return text.append("swizzle(BROADCAST,").append(number(group)).append(",").append(number(or_mask)).append(")");
  }
  // One character per lane-number bit, from the top: 0, 1, p(reserved), i(nverted).
  text += "swizzle(BITMASK_PERM,\"";
  const unsigned of_zeros = or_mask ^ xor_mask;
  const unsigned of_ones = (and_mask | or_mask) ^ xor_mask;
  for (unsigned bit = 16; bit != 0; bit >>= 1) {
    const bool zero = (of_zeros & bit) != 0;
    const bool one = (of_ones & bit) != 0;
    text += zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p');
  }
  return text + "\")";
}

std::string dpp_control_text(unsigned control) {
  if (control <= 0xff) {
    std::string text = "quad_perm:[";
    for (unsigned i = 0; i < 4; ++i) text.append(i == 0 ? "" : ",").append(number(control >> (2 * i) & 3));
    return text + "]";
  }
  const unsigned amount = control & 0xf;
  switch (control >> 4) {
    case 0x10:
      return amount != 0 ? "row_shl:" + number(amount) : "";
    case 0x11:
      return amount != 0 ? "row_shr:" + number(amount) : "";
    case 0x12:
      return amount != 0 ? "row_ror:" + number(amount) : "";
    case 0x15:
      return "row_newbcast:" + number(amount);
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return "wave_shl:1";
    case 0x134:
      return "wave_rol:1";
    case 0x138:
      return "wave_shr:1";
    case 0x13c:
      return "wave_ror:1";
    case 0x140:
      return "row_mirror";
    case 0x141:
      return "row_half_mirror";
    case 0x142:
      return "row_bcast:15";
    case 0x143:
      return "row_bcast:31";
    default:
      return "";
  }
}

std::string buffer_format_text(unsigned data, unsigned number) {
  static constexpr std::array<const char*, 16> kData{"INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
                                                     "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
                                                     "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
  static constexpr std::array<const char*, 8> kNumber{"UNORM", "SNORM", "USCALED",    "SSCALED",
                                                      "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  // LLVM omits the default formats: 8 and UNORM.
  std::string names;
  if (data != 1) names = std::string("BUF_DATA_FORMAT_") + kData.at(data);
  if (number != 0) names += (names.empty() ? "" : ",") + std::string("BUF_NUM_FORMAT_") + kNumber.at(number);
  return names.empty() ? names : " format:[" + names + "]";
}

}  // namespace lacuna::isa
