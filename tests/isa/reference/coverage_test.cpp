// Every executable row of the vector and scalar formats has a reference function, or is named here with the reason and its
// test.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "models/isa/table.h"
#include "tests/isa/reference/reference.h"
#include "tests/isa/reference/scalar_bench.h"

namespace lacuna::isa::test {
namespace {

struct Exception {
  std::string_view pattern;  ///< a mnemonic, or the beginning of several with '*'
  std::string_view reason;
};

// Vector rows that are not a function of one lane's operands.
constexpr Exception kVectorExceptions[] = {
    {"v_nop", "no result"},
    {"v_clrexcp", "no result"},
    {"v_readfirstlane_b32", "moves across lanes: vop_lane_test"},
    {"v_readlane_b32", "moves across lanes: vop_lane_test"},
    {"v_writelane_b32", "moves across lanes: vop_lane_test"},
    {"v_movrel*", "indexed registers: vop_lane_test"},
    {"v_swap_b32", "two results: vop_lane_test"},
    {"v_accvgpr_mov_b32", "accumulation registers: mfma_test"},
};

// Scalar rows that are not a function of operands, SCC and EXEC.
constexpr Exception kScalarExceptions[] = {
    {"s_cbranch_*", "program counter and a stack of masks: sop_test"},
    {"s_movrel*", "indexed registers: sop_test"},
    {"s_set_gpr_idx_*", "changes MODE: isa_gpr_index_test"},
    {"s_setvskip", "changes MODE: isa_gpr_index_test"},
    {"s_getreg_b32", "hardware registers: sop_test"},
    {"s_setreg_*", "hardware registers: sop_test"},
};

// Formats whose rows compute from more than their operands.
struct FormatException {
  Format format;
  std::string_view reason;
};
constexpr FormatException kFormatExceptions[] = {
    {Format::sopp, "program flow: sop_test"},
    {Format::smem, "memory: smem_test"},
    {Format::mai, "across lanes, each MFMA against its definition: mfma_test"},
    {Format::ds, "memory, atomics against atomic_reference.h: ds_test"},
    {Format::flat, "memory, atomics against atomic_reference.h: flat_test"},
    {Format::global, "memory: flat_test, gfx9_memory_test"},
    {Format::scratch, "memory: gfx9_memory_test"},
    {Format::mubuf, "memory, atomics against atomic_reference.h: mubuf_test"},
    {Format::mtbuf, "memory and formats: mubuf_test, buffer_format_test"},
    {Format::vop3b, "listed with vop3a"},
};

bool matches(std::string_view pattern, std::string_view mnemonic) {
  return pattern.ends_with('*') ? mnemonic.starts_with(pattern.substr(0, pattern.size() - 1)) : mnemonic == pattern;
}

/// Every executable row of `formats` is either referenced or excepted; every exception names a row.
void expect_covered(std::span<const Format> formats, const std::set<std::string_view>& referenced,
                    std::span<const Exception> exceptions) {
  std::set<std::string_view> used;
  unsigned with_reference = 0;
  unsigned total = 0;
  for (const Format format : formats) {
    for (const InstructionRow& row : rows(format)) {
      if (row.execute == nullptr) continue;
      ++total;
      const auto exception = std::find_if(exceptions.begin(), exceptions.end(),
                                          [&](const Exception& e) { return matches(e.pattern, row.mnemonic); });
      const bool excepted = exception != exceptions.end();
      if (excepted) used.insert(exception->pattern);
      if (referenced.contains(row.mnemonic)) ++with_reference;
      EXPECT_NE(referenced.contains(row.mnemonic), excepted)
          << row.mnemonic << (excepted ? " has a reference: take it off the list" : " has no reference function");
    }
  }
  for (const Exception& e : exceptions) EXPECT_TRUE(used.contains(e.pattern)) << e.pattern << " names no row";
  std::cout << with_reference << " of " << total << " rows have a reference function\n";
}

constexpr Format kVectorFormats[] = {Format::vop1, Format::vop2, Format::vopc, Format::vop3a, Format::vop3p};
constexpr Format kScalarFormats[] = {Format::sop1, Format::sop2, Format::sopc, Format::sopk};

TEST(ReferenceCoverage, EveryVectorRowHasAReferenceOrAReason) {
  std::set<std::string_view> referenced;
  for (const auto entries :
       {integer_references(), integer16_references(), sad_references(), float_references(), convert_references(),
        compare_references(), division_references(), transcendental_references(), packed_references()}) {
    for (const ReferenceEntry& entry : entries)
      EXPECT_TRUE(referenced.insert(entry.mnemonic).second) << entry.mnemonic << " twice";
  }
  expect_covered(kVectorFormats, referenced, kVectorExceptions);
}

TEST(ReferenceCoverage, EveryScalarRowHasAReferenceOrAReason) {
  std::set<std::string_view> referenced;
  for (const ScalarReference& entry : scalar_references())
    EXPECT_TRUE(referenced.insert(entry.mnemonic).second) << entry.mnemonic << " twice";
  expect_covered(kScalarFormats, referenced, kScalarExceptions);
}

TEST(ReferenceCoverage, EveryOtherFormatHasAReason) {
  for (const Format format : all_formats()) {
    const bool by_row = std::find(std::begin(kVectorFormats), std::end(kVectorFormats), format) != std::end(kVectorFormats) ||
                        std::find(std::begin(kScalarFormats), std::end(kScalarFormats), format) != std::end(kScalarFormats);
    const bool named = std::any_of(std::begin(kFormatExceptions), std::end(kFormatExceptions),
                                   [&](const FormatException& e) { return e.format == format; });
    EXPECT_NE(by_row, named) << format_name(format);
  }
}

}  // namespace
}  // namespace lacuna::isa::test
