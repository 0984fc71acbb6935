// Tests that every vector opcode that LLVM accepts, except for two groups, has an executable row.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "tests/isa/llvm_oracle.h"

namespace lacuna::isa::test {
namespace {

// Exceptions: interpolation of vertex attributes (all v_interp*), and a table look-up of the rasteriser whose contents are not
// public.
constexpr std::string_view kInterpolation = "v_interp_";
constexpr std::string_view kRasteriser = "v_screen_partition_4se_b32";

constexpr std::uint32_t v(unsigned index) { return kVgpr0 + index; }

struct Sources {
  std::uint32_t a, b, c;
};

class Cases {
 public:
  void add(std::uint32_t first, std::uint32_t second = 0) { words.push_back({first, second, 0}); }

  // Adds an opcode of VOP3 or VOP3P with several combinations of operands, because opcodes differ in the kinds and the number
  // of their operands: at least one combination is legal.
  void add_three_operand(std::uint32_t first) {
    const std::uint32_t s = 10;
    for (const Sources& in : {Sources{v(2), v(4), v(6)},
                              {v(2), v(4), 0},
                              {v(2), 0, 0},
                              {v(2), v(4), s},
                              {v(2), s, v(6)},
                              {v(2), s, 0},
                              {0, 0, 0},
                              {s, s, 0},
                              {v(2), v(4), v(32)}}) {
      for (const std::uint32_t rest : {0U, 10U << 8, 3U << 8 | 1U << 11}) {
        add(first | rest, in.a | in.b << 9 | in.c << 18);
      }
    }
  }

  std::vector<Words> words;
};

class VectorCoverage : public ::testing::TestWithParam<Target> {};

TEST_P(VectorCoverage, EveryOpcodeThatLlvmKnowsIsExecuted) {
  const Target target = GetParam();
  Cases cases;
  for (std::uint32_t opcode = 0; opcode < 256; ++opcode) {
    cases.add(0x7e000000 | 4U << 17 | opcode << 9 | v(2));  // VOP1
    cases.add(0x7e000000 | opcode << 9);
    cases.add(0x7c000000 | opcode << 17 | 6U << 9 | v(2));  // VOPC
  }
  constexpr std::uint32_t kVop2Opcodes = 62;  // 62 and 63 are VOPC and VOP1
  for (std::uint32_t opcode = 0; opcode < kVop2Opcodes; ++opcode)
    cases.add(opcode << 25 | 4U << 17 | 6U << 9 | v(2), 0x3f800000);
  for (std::uint32_t opcode = 0; opcode < 1024; ++opcode) cases.add_three_operand(0xd0000000 | opcode << 16 | 8);

  const std::vector<OracleText> oracle = disassemble_by_llvm(cases.words, target);
  std::set<std::string> known;
  std::set<std::string> missing;
  for (std::size_t k = 0; k < cases.words.size(); ++k) {
    const std::string& text = oracle[k].text;
    if (text.empty() || text.find("/*") != std::string::npos) continue;
    const std::string mnemonic = text.substr(0, text.find(' '));
    if (mnemonic.rfind(kInterpolation, 0) == 0 || mnemonic.rfind(kRasteriser, 0) == 0) continue;
    known.insert(mnemonic);
    const DecodeResult decoded = decode(cases.words[k].data(), cases.words[k].size(), target);
    if (!decoded.ok || decoded.instruction.row->execute == nullptr) {
      missing.insert(mnemonic + " (" + (decoded.ok ? "no executor" : decoded.error) + ")");
    }
  }
  for (const std::string& name : missing) ADD_FAILURE() << name;
  // e32 and e64 forms are counted separately.
  EXPECT_GT(known.size(), target == Target::gfx803 ? 700U : 820U);
}

// All rows except those named above have an executor.
TEST_P(VectorCoverage, EveryVectorRowIsExecuted) {
  for (const Format format : {Format::vop1, Format::vop2, Format::vopc, Format::vop3a, Format::vop3p, Format::mai}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[GetParam()] == kAbsent || row.mnemonic == kRasteriser) continue;
      EXPECT_NE(row.execute, nullptr) << row.mnemonic;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorCoverage, ::testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test
