// Tests that every executable row of the vector and scalar formats has a reference function, or is listed here with the reason
// and, if it has results, the test that covers it.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "models/isa/decode/table.h"
#include "tests/isa/reference/atomic_bench.h"
#include "tests/isa/reference/reference.h"
#include "tests/isa/reference/scalar_bench.h"

namespace lacuna::isa::test {
namespace {

struct Exception {
  std::string_view pattern;  ///< a mnemonic, or the common prefix of several mnemonics followed by '*'
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
    {"v_accvgpr_mov_b32", "accumulation registers: isa_mfma_test"},
};

// Scalar rows whose results are not a function of operands, SCC and EXEC.
constexpr Exception kScalarExceptions[] = {
    {"s_cbranch_*", "program counter and a stack of masks: isa_sop_test"},
    {"s_movrel*", "indexed registers: isa_reference_scalar_test"},
    {"s_set_gpr_idx_*", "changes MODE: isa_gpr_index_test"},
    {"s_setvskip", "changes MODE: isa_gpr_index_test"},
    {"s_getreg_b32", "hardware registers: isa_sop_test"},
    {"s_setreg_*", "hardware registers: isa_sop_test"},
};

// Atomics that do not just combine one datum with operands.
constexpr Exception kAtomicExceptions[] = {
    {"ds_wrxchg2*", "two addresses: isa_reference_atomic_test"},   {"ds_condxchg32_rtn_b64", "two addresses: isa_ds_test"},
    {"ds_append", "counts lanes: isa_gfx9_memory_test"},           {"ds_consume", "counts lanes: isa_gfx9_memory_test"},
    {"ds_gws_*", "wait for other wavefronts: isa_wave_sync_test"},
};

// Formats that the lists below leave out.
struct FormatException {
  Format format;
  std::string_view reason;
};
constexpr FormatException kFormatExceptions[] = {
    {Format::sopp, "program flow: isa_sop_test"},
    {Format::mai, "across lanes, each MFMA against its definition: isa_mfma_test"},
    {Format::scratch, "memory: isa_gfx9_memory_test"},
    {Format::mtbuf, "memory and formats: isa_mubuf_test, isa_buffer_format_test"},
    {Format::vop3b, "listed with vop3a"},
};

bool matches(std::string_view pattern, std::string_view mnemonic) {
  return pattern.ends_with('*') ? mnemonic.starts_with(pattern.substr(0, pattern.size() - 1)) : mnemonic == pattern;
}

/// Checks that every executable row of `formats` either has a reference or is an exception, and that every exception names a
/// row.
template <class Includes>
void expect_covered(std::span<const Format> formats, Includes includes, const std::set<std::string_view>& referenced,
                    std::span<const Exception> exceptions) {
  std::set<std::string_view> used;
  unsigned with_reference = 0;
  unsigned total = 0;
  for (const Format format : formats) {
    for (const InstructionRow& row : rows(format)) {
      if (row.execute == nullptr || !includes(row)) continue;
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

bool every_row(const InstructionRow&) { return true; }
// Plain loads and stores are tested by isa_ds_test, isa_flat_test, isa_mubuf_test, isa_smem_test, isa_gfx9_memory_test.
constexpr Format kAtomicFormats[] = {Format::ds, Format::flat, Format::global, Format::mubuf, Format::smem};
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
  expect_covered(kVectorFormats, every_row, referenced, kVectorExceptions);
}

TEST(ReferenceCoverage, EveryScalarRowHasAReferenceOrAReason) {
  std::set<std::string_view> referenced;
  for (const ScalarReference& entry : scalar_references())
    EXPECT_TRUE(referenced.insert(entry.mnemonic).second) << entry.mnemonic << " twice";
  expect_covered(kScalarFormats, every_row, referenced, kScalarExceptions);
}

TEST(ReferenceCoverage, EveryAtomicRowHasAReferenceOrAReason) {
  std::set<std::string_view> referenced;
  for (const AtomicReference& entry : atomic_references())
    EXPECT_TRUE(referenced.insert(entry.mnemonic).second) << entry.mnemonic << " twice";
  expect_covered(kAtomicFormats, is_atomic, referenced, kAtomicExceptions);
}

TEST(ReferenceCoverage, EveryOtherFormatHasAReason) {
  for (const Format format : all_formats()) {
    bool by_row = false;
    for (const auto formats : {std::span<const Format>(kVectorFormats), std::span<const Format>(kScalarFormats),
                               std::span<const Format>(kAtomicFormats)})
      by_row = by_row || std::find(formats.begin(), formats.end(), format) != formats.end();
    const bool named = std::any_of(std::begin(kFormatExceptions), std::end(kFormatExceptions),
                                   [&](const FormatException& e) { return e.format == format; });
    EXPECT_NE(by_row, named) << format_name(format);
  }
}

}  // namespace
}  // namespace lacuna::isa::test
