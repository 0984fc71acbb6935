// Every executable row of the vector formats has a reference function, or is named here with the reason and its test.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "models/isa/table.h"
#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {
namespace {

struct Exception {
  std::string_view pattern;  ///< a mnemonic, or the beginning of several with '*'
  std::string_view reason;
};

constexpr Exception kExceptions[] = {
    // -- not a function of one lane's operands
    {"v_nop", "no result"},
    {"v_clrexcp", "no result"},
    {"v_readfirstlane_b32", "moves across lanes: vop_lane_test"},
    {"v_readlane_b32", "moves across lanes: vop_lane_test"},
    {"v_writelane_b32", "moves across lanes: vop_lane_test"},
    {"v_movrel*", "indexed registers: vop_lane_test"},
    {"v_swap_b32", "two results: vop_lane_test"},
    {"v_accvgpr_mov_b32", "accumulation registers: mfma_test"},
    // -- no independent reference function yet; what checks them until then
    {"v_cvt_*", "no reference yet: vop_convert_test"},
    {"v_cmp_*", "no reference yet: vop_compare_test"},
    {"v_cmpx_*", "no reference yet: vop_compare_test"},
    {"v_div_*", "no reference yet: vop_division_test"},
    {"v_trig_preop_f64", "no reference yet: vop_transcendental_test"},
    {"v_exp_*", "no reference yet: vop_transcendental_test"},
    {"v_log_*", "no reference yet: vop_transcendental_test"},
    {"v_rcp_*", "no reference yet: vop_transcendental_test"},
    {"v_rsq_*", "no reference yet: vop_transcendental_test"},
    {"v_sqrt_*", "no reference yet: vop_transcendental_test"},
    {"v_sin_*", "no reference yet: vop_transcendental_test"},
    {"v_cos_*", "no reference yet: vop_transcendental_test"},
    {"v_dot*", "no reference yet: vop_packed_test"},
    {"v_pk_fmac_f16", "no reference yet: vop_packed_test"},
    {"v_pack_b32_f16", "no reference yet: vop_packed_test"},
};

bool matches(std::string_view pattern, std::string_view mnemonic) {
  return pattern.ends_with('*') ? mnemonic.starts_with(pattern.substr(0, pattern.size() - 1)) : mnemonic == pattern;
}

TEST(ReferenceCoverage, EveryVectorRowHasAReferenceOrAReason) {
  std::set<std::string_view> referenced;
  for (const auto entries : {integer_references(), integer16_references(), sad_references(), float_references()}) {
    for (const ReferenceEntry& entry : entries)
      EXPECT_TRUE(referenced.insert(entry.mnemonic).second) << entry.mnemonic << " twice";
  }
  std::set<std::string_view> used;
  unsigned with_reference = 0;
  unsigned without_yet = 0;
  unsigned total = 0;
  for (const Format format : {Format::vop1, Format::vop2, Format::vopc, Format::vop3a}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.execute == nullptr) continue;
      ++total;
      const auto* exception = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                           [&](const Exception& e) { return matches(e.pattern, row.mnemonic); });
      if (referenced.contains(row.mnemonic)) {
        EXPECT_TRUE(exception == std::end(kExceptions) || exception->pattern.ends_with('*'))
            << row.mnemonic << " has a reference: take it off the list";
        ++with_reference;
        continue;
      }
      if (exception == std::end(kExceptions)) {
        ADD_FAILURE() << row.mnemonic << " has no reference function";
        continue;
      }
      used.insert(exception->pattern);
      if (exception->reason.starts_with("no reference yet")) ++without_yet;
    }
  }
  for (const Exception& e : kExceptions) EXPECT_TRUE(used.contains(e.pattern)) << e.pattern << " names no row";
  std::cout << with_reference << " of " << total << " rows have a reference function, " << without_yet << " lack one\n";
}

}  // namespace
}  // namespace lacuna::isa::test
