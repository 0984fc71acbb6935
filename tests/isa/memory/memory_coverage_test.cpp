// Tests that every scalar and memory opcode that LLVM accepts, except for kExcluded, has an executable row.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "tests/isa/llvm_oracle.h"

namespace lacuna::isa::test {
namespace {

// Exceptions: ordered append of the global data share, and instructions that only a trap handler or the graphics pipeline uses.
constexpr std::array<std::string_view, 5> kExcluded{"ds_ordered_count", "s_rfe_b64", "s_rfe_restore_b64",
                                                    "s_endpgm_ordered_ps_done", "s_endpgm_saved"};
bool excluded(std::string_view mnemonic) { return std::find(kExcluded.begin(), kExcluded.end(), mnemonic) != kExcluded.end(); }

// Words with every opcode of every scalar and memory format, each with several operands of different widths and kinds, at least
// one of them legal.
std::vector<Words> all_opcodes() {
  std::vector<Words> cases;
  const auto add = [&](std::uint32_t first, std::uint32_t second) { cases.push_back({first, second, 0}); };
  for (std::uint32_t op = 0; op < 256; ++op) {
    for (const std::uint32_t source : {0x80U, 8U, 0U}) {
      add(0xbe800000 | 8U << 16 | op << 8 | source, 0);                                    // SOP1
      if (op < 128) add(0xbf000000 | op << 16 | 4U << 8 | source, 0);                      // SOPC
      if (op < 128) add(0xbf800000 | op << 16 | (source == 0x80 ? 1U : 0U), 0);            // SOPP
      if (op < 32) add(0xb0000000 | op << 23 | 8U << 16 | (source == 0x80 ? 1U : 0U), 0);  // SOPK
      if (op < 128) add(0x80000000 | op << 23 | 12U << 16 | 4U << 8 | source, 0);          // SOP2
    }
    for (const std::uint32_t glc : {0U, 1U << 16}) add(0xc0000000 | op << 18 | 1U << 17 | glc | 8U << 6, 8);  // SMEM
    for (const std::uint32_t gds : {0U, 1U << 16}) {
      for (const std::uint32_t fields :
           {0U, 0x04U, 0x04000004U, 0x04000000U, 0x0604U, 0x04000604U, 0x080604U, 0x04080604U, 0x0600U})
        add(0xd8000000 | op << 17 | gds, fields);  // DS
    }
    if (op >= 128) continue;
    for (const std::uint32_t glc : {0U, 1U << 16}) {
      for (const std::uint32_t segment : {0U, 0x4000U, 0x8000U}) {
        for (const std::uint32_t scalar : {0x7f0000U, 0U})
          add(0xdc000000 | op << 18 | segment | glc, 0x08000600U | scalar | 2U);
      }
    }
    for (const std::uint32_t flags : {0U, 1U << 14, 1U << 16}) add(0xe0000000 | op << 18 | flags, 0x80010800);  // MUBUF
    if (op < 16) add(0xe8000000 | op << 15 | 4U << 19 | 7U << 23, 0x80010800);                                  // MTBUF
  }
  return cases;
}

bool of_these_formats(std::string_view mnemonic) {
  const auto starts = [&](std::string_view with) { return mnemonic.substr(0, with.size()) == with; };
  return starts("s_") || starts("ds_") || starts("flat_") || starts("global_") || starts("scratch_") || starts("buffer_") ||
         starts("tbuffer_");
}

class MemoryCoverage : public ::testing::TestWithParam<Target> {};

TEST_P(MemoryCoverage, EveryOpcodeThatLlvmKnowsIsExecuted) {
  const Target target = GetParam();
  const std::vector<Words> cases = all_opcodes();
  const std::vector<OracleText> oracle = disassemble_by_llvm(cases, target);
  // LLVM may print several opcodes as the same instruction: it suffices that one of them is executed.
  std::set<std::string> known;
  std::set<std::string> executed;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const std::string& text = oracle[k].text;
    if (text.empty() || text.find("/*") != std::string::npos) continue;
    const std::string mnemonic = text.substr(0, text.find(' '));
    // GDS forms are DS instructions with a flag.
    if (!of_these_formats(mnemonic) || excluded(mnemonic) || text.find(" gds") != std::string::npos) continue;
    known.insert(mnemonic);
    const DecodeResult decoded = decode(cases[k].data(), cases[k].size(), target);
    if (decoded.ok && decoded.instruction.row->execute != nullptr) executed.insert(mnemonic);
  }
  for (const std::string& name : known) EXPECT_TRUE(executed.contains(name)) << name;
  EXPECT_GT(known.size(), target == Target::gfx803 ? 420U : 580U);
}

TEST_P(MemoryCoverage, EveryRowIsExecuted) {
  for (const Format format : {Format::sop1, Format::sop2, Format::sopk, Format::sopc, Format::sopp, Format::smem, Format::ds,
                              Format::flat, Format::global, Format::scratch, Format::mubuf, Format::mtbuf}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[GetParam()] == kAbsent || excluded(row.mnemonic)) continue;
      EXPECT_NE(row.execute, nullptr) << row.mnemonic;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MemoryCoverage, ::testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test
