// Tests decoder and disassembler against LLVM: every table row in every encoding, then random words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "tests/isa/llvm_oracle.h"

namespace lacuna::isa::test {
namespace {

// Number of repetitions of the random tests, each with another seed.
unsigned rounds() {
  const char* text = std::getenv("LACUNA_ISA_ROUNDS");
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

struct Layout {
  Format format;
  std::uint32_t value;  // fixed bits
  unsigned opcode_shift;
  unsigned opcode_bits;
};
constexpr std::array kLayouts{
    Layout{Format::sop1, 0xbe800000, 8, 8},    Layout{Format::sop2, 0x80000000, 23, 7},
    Layout{Format::sopk, 0xb0000000, 23, 5},   Layout{Format::sopc, 0xbf000000, 16, 7},
    Layout{Format::sopp, 0xbf800000, 16, 7},   Layout{Format::smem, 0xc0000000, 18, 8},
    Layout{Format::vop1, 0x7e000000, 9, 8},    Layout{Format::vop2, 0x00000000, 25, 6},
    Layout{Format::vopc, 0x7c000000, 17, 8},   Layout{Format::vop3a, 0xd0000000, 16, 10},
    Layout{Format::ds, 0xd8000000, 17, 8},     Layout{Format::flat, 0xdc000000, 18, 7},
    Layout{Format::mubuf, 0xe0000000, 18, 7},  Layout{Format::vop3p, 0xd3800000, 16, 7},
    Layout{Format::global, 0xdc008000, 18, 7}, Layout{Format::scratch, 0xdc004000, 18, 7},
    Layout{Format::mtbuf, 0xe8000000, 15, 4},
};

// Whether the test covers this format on the target.
bool claimed(Format format, Target target) {
  const auto any_of = [&](std::initializer_list<Format> formats) {
    return std::find(formats.begin(), formats.end(), format) != formats.end();
  };
  return target != Target::gfx803 || !any_of({Format::vop3p, Format::mai, Format::global, Format::scratch});
}

const Layout& layout_of(Format format) {
  if (format == Format::vop3b) format = Format::vop3a;
  if (format == Format::mai) format = Format::vop3p;
  return *std::find_if(kLayouts.begin(), kLayouts.end(), [&](const Layout& l) { return l.format == format; });
}

// Mask of the first word's fields other than those that identify encoding and opcode; random words vary these fields.
std::uint32_t field_mask(const Layout& layout) {
  switch (layout.format) {
    case Format::sop1:
      return 0x007f00ff;
    case Format::sop2:
      return 0x007fffff;
    case Format::sopk:
      return 0x007fffff;
    case Format::sopc:
    case Format::sopp:
      return 0x0000ffff;
    case Format::smem:
      return 0x0003ffff;
    case Format::vop1:
      return 0x01fe01ff;
    case Format::vop2:
      return 0x01ffffff;
    case Format::vopc:
      return 0x0001ffff;
    case Format::vop3a:
      return 0x0000ffff;
    case Format::vop3p:
      return 0x0000ffff;
    case Format::ds:
      return 0x0001ffff;
    case Format::flat:
    case Format::global:
    case Format::scratch:
      return 0x02033fff;
    case Format::mubuf:
      return 0x0003ffff;
    case Format::mtbuf:
      return 0x03ff7fff;
    default:
      return 0;
  }
}

std::string hex(const Words& words) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08x %08x %08x", words[0], words[1], words[2]);
  return text.data();
}

constexpr std::uint32_t bits_of(std::uint32_t word, unsigned shift, unsigned count) {
  return word >> shift & ((1U << count) - 1);
}

struct Comparison {
  unsigned same = 0;
  unsigned both_reject = 0;
  unsigned bogus = 0;  ///< cases that LLVM accepts although an operand is invalid: see is_bogus()
  std::vector<std::string> differences;
  std::map<std::string, unsigned> differing_mnemonics;
};

// Whether the text has a tuple of scalar registers that reaches beyond s101 or the last ttmp.
bool beyond_file(const std::string& text, Target target) {
  const unsigned last_ttmp = kM0 - 1 - traits(target).first_ttmp;
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const std::size_t bracket = text.rfind('[', colon);
    if (bracket == std::string::npos || bracket == 0 || text.find(']', bracket) < colon) continue;
    const bool ttmp = bracket >= 4 && text.compare(bracket - 4, 4, "ttmp") == 0;
    if (!ttmp && text[bracket - 1] != 's') continue;
    if (std::strtoul(text.c_str() + colon + 1, nullptr, 10) > (ttmp ? last_ttmp : 101)) return true;
  }
  return false;
}

// Whether the text has an operand that LLVM accepts although it is invalid: an operand that LLVM marks as invalid; NULL, which
// only later generations have; a constant as the destination of a compare; SEXT outside of SDWA (there is no such bit); a
// constant as a matrix. LLVM also does not check the limits of gfx8's register files, and decodes operand encodings 235 to 239,
// reserved on gfx8, as the apertures of gfx9.
bool is_bogus(const std::string& text, Target target) {
  const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
  if (says("/*") || says("null") || beyond_file(text, target)) return true;
  if (target == Target::gfx803 && (says("src_shared_") || says("src_private_") || says("src_pops_"))) return true;
  if (says("sext(") && !says("_sel:")) return true;
  if (says("v_mfma") && says("src_")) return true;
  return text.find("src_") == text.find(' ') + 1;
}

// Compares one case. Returns whether both Lacuna and LLVM accept it with the same text.
bool compare(const Words& words, const OracleText& oracle, Target target, Comparison& result) {
  const DecodeResult decoded = decode(words.data(), words.size(), target);
  const std::string ours = decoded.ok ? disassemble(decoded.instruction, target) : std::string();
  if (ours == oracle.text && (!decoded.ok || decoded.instruction.size == oracle.bytes)) {
    ++(decoded.ok ? result.same : result.both_reject);
    return decoded.ok;
  }
  // Interpolation of vertex attributes is not executed by Lacuna.
  if (oracle.text.rfind("v_interp_", 0) == 0 && !decoded.ok) {
    ++result.bogus;
    return false;
  }
  // buffer_wbinvl1 has another opcode on gfx6 and gfx7, which LLVM also accepts.
  constexpr std::uint32_t kGfx6Invalidate = 0xe0000000 | 0x71 << 18;
  if (oracle.text == "buffer_wbinvl1" && (words[0] & 0xfdfc0000) == kGfx6Invalidate && !decoded.ok) {
    ++result.bogus;
    return false;
  }
  // LLVM allows sign modifiers for v_ldexp_f16's exponent in DPP.
  if (is_bogus(oracle.text, target) || (oracle.text.rfind("v_ldexp_f16_dpp", 0) == 0 && !decoded.ok)) {
    ++result.bogus;
    return false;
  }
  const std::string name = oracle.text.empty() ? ours : oracle.text;
  ++result.differing_mnemonics[name.substr(0, name.find(' '))];
  result.differences.push_back(hex(words) + "\n    LLVM: " + (oracle.text.empty() ? "rejects" : oracle.text) +
                               "\n    ours: " + (decoded.ok ? ours : "rejects: " + decoded.error));
  return false;
}

std::string report(const Comparison& result) {
  std::string text = std::to_string(result.differences.size()) + " differences, " + std::to_string(result.same) + " equal, " +
                     std::to_string(result.both_reject) + " rejected by both, " + std::to_string(result.bogus) + " bogus\n";
  for (std::size_t k = 0; k < result.differences.size() && k < 40; ++k) text += result.differences[k] + "\n";
  for (const auto& [mnemonic, count] : result.differing_mnemonics) text += mnemonic + ": " + std::to_string(count) + "\n";
  return text;
}

// llvm-objdump 16 crashes on SDWA words with a reserved selector (7) or DST_UNUSED (3): such bytes cannot be compared, and must
// not follow a case either. Lacuna's decoder rejects them. Returns whether the case had to change.
bool spare_llvm(Words& words) {
  const Words before = words;
  if (words[0] >> 31 == 0 && bits_of(words[0], 0, 9) == kSdwa) {
    for (const unsigned selector : {8U, 16U, 24U}) {
      if (bits_of(words[1], selector, 3) == 7) words[1] ^= 1U << selector;
    }
    if (bits_of(words[1], 11, 2) == 3) words[1] ^= 1U << 11;
  }
  for (unsigned k = 1; k < words.size(); ++k) {
    if (bits_of(words[k], 0, 9) == kSdwa) words[k] ^= 1;
  }
  return words != before;
}

class RandomWords {
 public:
  explicit RandomWords(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t next() { return static_cast<std::uint32_t>(engine_()); }

  // Returns a random second word of VOP3 that is legal except for alignment; fields that the row does not use are zero.
  std::uint32_t vop3_sources(const InstructionRow& row) {
    std::uint32_t word = next() % 4 == 0 ? next() & 0xf8000000 : 0;
    const bool scalars = next() % 8 == 0;  // only scalar sources, as in lane accesses
    for (unsigned s = 0; s < row.src.count && s < 3; ++s) {
      std::uint32_t source = 256 + next() % 250;
      if (next() % 4 == 0) source = next() % 50 * 2;
      if (next() % 4 == 0) source = 128 + next() % 81;
      if (scalars || row.src.types[s] == OperandType::lane_mask) source = next() % 50 * 2;
      word |= source << (9 * s);
    }
    return word;
  }
  Words vop3(const InstructionRow& row, unsigned opcode) {
    std::uint32_t low = 0xd0000000 | opcode << 16 | next() % 40 * 2;
    if (row.dst.count > 1) low |= next() % 50 * 2 << 8;
    if (next() % 4 == 0) low |= next() & 0x00008700;
    if (next() % 2 == 0 && (row.flags & kOpSel) != 0)
      low |= (next() & 0x4000) | (next() & 0x3800 & ((1U << (11 + row.src.count)) - 1));
    return {low, vop3_sources(row), next()};
  }

  // Random words of a packed or matrix operation, legal except for alignment.
  Words vop3p(const InstructionRow& row, unsigned opcode) {
    const bool matrix = row.format == Format::mai;
    std::uint32_t low = 0xd3800000 | opcode << 16 | next() % 120 * 2;
    std::uint32_t high = vop3_sources(row);
    if (matrix) {
      // A and B are registers; C may be a constant.
      high = (high & (next() % 2 == 0 ? 0xfbf00000U : 0x03f00000U)) | (256 + next() % 240) | (256 + next() % 240) << 9;
      if (row.src.count > 2) high |= next() % 4 == 0 ? (128 + next() % 60) << 18 : (256 + next() % 200) << 18;
      if (row.src.count == 1) high &= 0x180001ff;
      low |= row.src.count == 1 ? next() & 0xc000 : next() & 0xff00;
    } else {
      if (next() % 2 == 0) low |= next() & 0xc700;
      low |= next() & 0x3800 & ((1U << (11 + row.src.count)) - 1);
      high &= 0x1fffffff | ((1U << row.src.count) - 1) << 29;
      if (next() % 2 == 0) high |= 0x18000000;
    }
    return {low, high, next()};
  }

  // Random fields around the given opcode. Second words are kept mostly legal, so that most cases are accepted.
  Words encoding(const Layout& layout, unsigned opcode) {
    Words words{layout.value | opcode << layout.opcode_shift | (next() & field_mask(layout)), next(), next()};
    if (next() % 4 == 0) words[0] = words[0] & ~0x000000ffU;  // zero immediates and s0 sources
    if (next() % 4 != 0) words[1] = tame(layout.format, words[1]);
    return words;
  }

 private:
  std::uint32_t tame(Format format, std::uint32_t word) {
    static constexpr std::array<std::uint32_t, 6> kUsed{0, 0x000000ff, 0x0000ffff, 0xff000000, 0xff0000ff, 0xff00ffff};
    switch (format) {
      case Format::smem:
        return word & 0x000fff7c;
      case Format::vop3a:
        return word & (next() % 2 == 0 ? 0x07f3f9feU : 0x003f9fcfU);
      case Format::ds:
        return word & kUsed[next() % kUsed.size()];
      case Format::flat:
        return word & 0xff00ffff;
      case Format::mubuf:
        return (word & 0x191fffff) | 0x80000000;
      default:
        return word;
    }
  }
  std::mt19937 engine_;
};

class Disassembler : public ::testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Disassembler, ::testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

// Compares every row, in every encoding that it has.
void compare_rows(Target target, std::uint32_t seed) {
  RandomWords random(seed);
  std::vector<Words> cases;
  std::vector<std::string> names;
  const auto add = [&](const InstructionRow& row, Format format, unsigned opcode, const char* form, auto&& adjust) {
    for (unsigned k = 0; k < 40; ++k) {
      const bool shaped = (format == Format::vop3a || format == Format::vop3b) && k % 4 != 0;
      const bool packed = (format == Format::vop3p || format == Format::mai) && k % 6 != 0;
      Words words = shaped   ? random.vop3(row, opcode)
                    : packed ? random.vop3p(row, opcode)
                             : random.encoding(layout_of(format), opcode);
      if (row.src.count == 0 && k % 2 == 0) words[0] &= ~field_mask(layout_of(format));
      if (row.src.count == 0 && k % 4 < 2) words[1] = 0;
      if ((row.flags & kGdsOnly) != 0) words[0] |= 1U << 16;
      adjust(words);
      spare_llvm(words);
      cases.push_back(words);
      names.push_back(std::string(row.mnemonic) + form);
    }
  };
  const auto keep = [](Words&) {};
  const auto with_source = [](unsigned source) { return [source](Words& words) { words[0] = (words[0] & ~0x1ffU) | source; }; };
  const bool gfx9 = target != Target::gfx803;
  for (const Format format : all_formats()) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[target] == kAbsent || !claimed(row.format, target)) continue;
      const auto opcode = static_cast<unsigned>(row.opcode[target]);
      const bool vector = format == Format::vop1 || format == Format::vop2 || format == Format::vopc;
      add(row, format, opcode, "", keep);
      if (!vector) continue;
      if ((row.flags & kNoSdwa) == 0 && !(gfx9 && (row.flags & kNoGfx9Sdwa) != 0) && row.src.count > 0) {
        add(row, format, opcode, " (SDWA)", [&](Words& words) {
          with_source(kSdwa)(words);
          words[1] &= random.next() % 2 == 0 ? 0x3f3f3fff : row.src.count > 1 ? 0x07073fffU : 0x00071fffU;
          if (gfx9 && random.next() % 2 == 0) words[1] |= random.next() & 0x80800000;
          if (gfx9 && random.next() % 4 == 0) words[1] |= random.next() & 0x0000c000;
        });
      }
      if ((row.flags & kNoDpp) == 0 && row.src.count > 0 && format != Format::vopc) {
        add(row, format, opcode, " (DPP)", [&](Words& words) {
          with_source(kDpp)(words);
          if (gfx9 && random.next() % 4 == 0) words[1] = (words[1] & ~0x1ff00U) | (0x150 + random.next() % 16) << 8;
          words[1] &= random.next() % 2 == 0 ? 0xfff8ffff : 0xff0800ff;
        });
      }
      if ((row.flags & kNoE64) == 0) {
        const unsigned at = opcode + (format == Format::vop1 ? kVop3OfVop1 : format == Format::vop2 ? kVop3OfVop2 : 0);
        add(row, Format::vop3a, at, " (e64)", keep);
      }
    }
  }
  const std::vector<OracleText> oracle = disassemble_by_llvm(cases, target);
  Comparison result;
  std::map<std::string, unsigned> accepted;
  for (std::size_t k = 0; k < cases.size(); ++k) accepted[names[k]] += compare(cases[k], oracle[k], target, result) ? 1 : 0;
  EXPECT_TRUE(result.differences.empty()) << report(result);
  for (const auto& [name, count] : accepted) EXPECT_GT(count, 0U) << name << " was never accepted by both";
}

TEST_P(Disassembler, EveryRowReadsAsInLlvm) {
  for (unsigned round = 0; round < rounds(); ++round) compare_rows(GetParam(), 1 + round);
}

// Compares random words: Lacuna and LLVM must accept them with the same text, or both reject them.
void compare_random_words(Target target, std::uint32_t seed) {
  RandomWords random(seed);
  std::vector<Words> cases;
  unsigned changed = 0;
  for (unsigned k = 0; k < 12000; ++k) {
    const Layout& layout = kLayouts[random.next() % kLayouts.size()];
    if (!claimed(layout.format, target)) continue;
    cases.push_back({layout.value | (random.next() & ((1U << layout.opcode_bits) - 1)) << layout.opcode_shift |
                         (random.next() & field_mask(layout)),
                     random.next(), random.next()});
    changed += spare_llvm(cases.back()) ? 1 : 0;
  }
  EXPECT_LT(changed, cases.size() / 20);
  const std::vector<OracleText> oracle = disassemble_by_llvm(cases, target);
  Comparison result;
  for (std::size_t k = 0; k < cases.size(); ++k) compare(cases[k], oracle[k], target, result);
  EXPECT_TRUE(result.differences.empty()) << report(result);
  EXPECT_GT(result.same, cases.size() / 12);
}

TEST_P(Disassembler, RandomWordsReadAsInLlvm) {
  for (unsigned round = 0; round < rounds(); ++round) compare_random_words(GetParam(), 20 + round);
}

// Immediates with a special syntax, over their whole range.
TEST_P(Disassembler, ImmediatesReadAsInLlvm) {
  const Target target = GetParam();
  std::vector<Words> cases;
  for (std::uint32_t value = 0; value < 0x10000; value += 1) {
    if (value % 67 == 0 || value < 0x400) cases.push_back({0xbf900000 | value, 0, 0});  // s_sendmsg
    if (value % 61 == 0 || value < 0x100) cases.push_back({0xb8800000 | value, 0, 0});  // s_getreg_b32
    if (value % 31 == 0) cases.push_back({0xbf8c0000 | value, 0, 0});                   // s_waitcnt
    if (value % 23 == 0) cases.push_back({0xd87a0000 | value, 0x01000002, 0});          // ds_swizzle_b32
    if (value < 0x200) cases.push_back({0x7e0202fa, 0xff000002 | value << 8, 0});       // DPP controls
    if (value < 0x100) cases.push_back({0xbf910000 | value, 0, 0});                     // s_set_gpr_idx_on
  }
  for (std::uint32_t constant = kInlineZero; constant <= kInlineInv2Pi && target == Target::gfx90a; ++constant) {
    cases.push_back({0x660a00f9 | constant << 9, 0x86060604, 0});   // v_ldexp_f16_sdwa
    cases.push_back({0xd3824008, 0x18020500 | constant, 0});        // v_pk_add_i16
    cases.push_back({0xd38f4008, 0x18020500 | constant, 0});        // v_pk_add_f16
    cases.push_back({0xd3b24008, 0x18020500 | constant, 0});        // v_pk_add_f32
    cases.push_back({0xd3cd8008, 0x00020902 | constant << 18, 0});  // v_mfma_f32_16x16x16f16
    cases.push_back({0xd3ee8008, 0x00020902 | constant << 18, 0});  // v_mfma_f64_16x16x4f64
  }
  const std::vector<OracleText> oracle = disassemble_by_llvm(cases, target);
  Comparison result;
  for (std::size_t k = 0; k < cases.size(); ++k) compare(cases[k], oracle[k], target, result);
  EXPECT_TRUE(result.differences.empty()) << report(result);
}

// Whole kernels as compiled by clang.
struct Kernel {
  const char* name;
  Target target;
};
class CodeObject : public ::testing::TestWithParam<Kernel> {};

TEST_P(CodeObject, ReadsAsInLlvm) {
  const Target target = GetParam().target;
  const std::string path = std::string(LACUNA_ISA_KERNELS) + "/" + GetParam().name + ".co";
  const std::vector<ListingLine> listing = list_code_object(path, target);
  ASSERT_GT(listing.size(), 50U);
  for (const ListingLine& line : listing) {
    const DecodeResult decoded = decode(line.words.data(), line.words.size(), target);
    ASSERT_TRUE(decoded.ok) << line.text << ": " << decoded.error;
    EXPECT_EQ(decoded.instruction.size, line.words.size() * 4) << line.text;
    EXPECT_EQ(disassemble(decoded.instruction, target), line.text);
    EXPECT_NE(decoded.instruction.row->execute, nullptr) << line.text << " cannot be executed";
    EXPECT_NE(decoded.instruction.execute, &execute_unsupported) << line.text << " cannot be executed";
  }
}

constexpr Target kGfx8 = Target::gfx803;
constexpr Target kGfx90a = Target::gfx90a;
INSTANTIATE_TEST_SUITE_P(Kernels, CodeObject,
                         ::testing::Values(Kernel{"isa_arithmetic_O0", kGfx8}, Kernel{"isa_arithmetic_O1", kGfx8},
                                           Kernel{"isa_arithmetic_O3", kGfx8}, Kernel{"isa_memory_O0", kGfx8},
                                           Kernel{"isa_memory_O1", kGfx8}, Kernel{"isa_memory_O3", kGfx8},
                                           Kernel{"isa_control_O0", kGfx8}, Kernel{"isa_control_O1", kGfx8},
                                           Kernel{"isa_control_O3", kGfx8}, Kernel{"isa_gfx90a_arithmetic_O0", kGfx90a},
                                           Kernel{"isa_gfx90a_arithmetic_O3", kGfx90a}, Kernel{"isa_gfx90a_memory_O0", kGfx90a},
                                           Kernel{"isa_gfx90a_memory_O3", kGfx90a}, Kernel{"isa_gfx90a_control_O0", kGfx90a},
                                           Kernel{"isa_gfx90a_control_O3", kGfx90a}, Kernel{"isa_gfx90a_vector_O0", kGfx90a},
                                           Kernel{"isa_gfx90a_vector_O3", kGfx90a}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace lacuna::isa::test
