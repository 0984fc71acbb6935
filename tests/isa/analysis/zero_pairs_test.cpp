// Tests the zero pairs of the instruction table (sources that are irrelevant if another source is zero) against execution of
// every instruction with two or more sources: products and ANDs must have exactly the pairs found, other instructions none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/isa/analysis/row_forms.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kRuns = 5;

/// The kind of a pair of sources according to execution.
ZeroPair found(Machine& machine, const InstructionRow& row, unsigned zero, unsigned other) {
  Subject subject(machine, row);
  const std::vector<Form> forms = subject.forms();
  EXPECT_FALSE(forms.empty()) << row.mnemonic;
  const bool mixed = (row.flags & kMixedPrecision) != 0;
  const auto type_of = [&row](unsigned source) { return source_type(row, source); };
  std::vector<std::uint64_t> zeros{0};
  // In mixed precision, the source may be an f32, so -0 of f32 is tried.
  if (is_float_type(type_of(zero))) zeros.push_back(negative_zero(mixed ? OperandType::f32 : type_of(zero)));
  std::vector<std::uint64_t> finite_values;
  for (const std::uint64_t v : values()) {
    if (finite(v, type_of(other), mixed)) finite_values.push_back(v);
  }
  bool exact = true;
  bool ieee = true;
  unsigned trial = 0;
  std::mt19937_64 random(17);
  for (const Form& form : forms) {
    for (const unsigned mode : {0U, 1U, 2U, 7U}) {
      machine.wave.mode = mode_of(mode & 3, mode < 2, mode % 2 == 0, mode != 7);
      for (const std::uint64_t nought : zeros) {
        for (unsigned rest = 0; rest < 4; ++rest, ++trial) {
          // The third source and the old destination vary from trial to trial, the other source from run to run.
          const std::vector<std::uint64_t> zeroes(kLanes, nought);
          std::vector<std::uint64_t> third(kLanes);
          for (unsigned lane = 0; lane < kLanes; ++lane)
            third[lane] = values()[(trial * 13 + lane * (rest % 2)) % values().size()];
          const std::uint64_t old = values()[(trial * 7) % values().size()];
          for (const bool only_finite : {false, true}) {
            const std::vector<std::uint64_t>& pool = only_finite ? finite_values : values();
            Outcome first;
            for (unsigned r = 0; r < kRuns; ++r) {
              std::vector<std::uint64_t> varied(kLanes);
              for (std::uint64_t& v : varied) v = pool[random() % pool.size()];
              std::array<const std::vector<std::uint64_t>*, 3> sources{&third, &third, &third};
              sources[zero] = &zeroes;
              sources[other] = &varied;
              const Outcome outcome = subject.run(form, sources, old);
              if (r == 0) first = outcome;
              exact = exact && same(outcome, first);
              if (only_finite) ieee = ieee && same_values(row, outcome, first);
            }
            if (!exact && !ieee) return ZeroPair::none;
          }
        }
      }
    }
  }
  return exact ? ZeroPair::exact : ieee ? ZeroPair::ieee : ZeroPair::none;
}

/// Instructions in which a zero in either of two sources makes the other irrelevant although they are neither products nor
/// ANDs: bit fields of width zero, minima of unsigned numbers, quotients of zeros.
bool known_exception(std::string_view mnemonic) {
  return mnemonic.starts_with("v_div_scale_") || mnemonic.starts_with("v_bfe_") || mnemonic.starts_with("s_bfe_") ||
         (mnemonic.find("_min") != std::string_view::npos && mnemonic.find("_u") != std::string_view::npos);
}

class ZeroPairs : public testing::TestWithParam<Target> {};

TEST_P(ZeroPairs, TableAgreesWithExecution) {
  Machine machine(GetParam());
  std::map<ZeroPair, unsigned> count;
  for (const Format format : {Format::sop2, Format::vop2, Format::vop3a, Format::vop3p}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[GetParam()] == kAbsent || row.execute == nullptr || row.src.count < 2) continue;
      const auto other_than_sources = [](OperandType t) { return t == OperandType::lane_mask; };
      const bool takes_mask = std::any_of(row.src.types.begin(), row.src.types.begin() + row.src.count, other_than_sources);
      const bool moves_lanes = row.latency == LatencyClass::valu_lane;
      const bool branches = row.unit == Unit::branch;
      for (unsigned a = 0; a < row.src.count; ++a) {
        for (unsigned b = 0; b < row.src.count; ++b) {
          if (a == b) continue;
          const ZeroPair claimed = makes_irrelevant(row, a, b);
          if (takes_mask || moves_lanes || branches) {
            EXPECT_EQ(claimed, ZeroPair::none) << row.mnemonic;
            continue;
          }
          const ZeroPair one_way = found(machine, row, a, b);
          if (claimed != ZeroPair::none) {
            EXPECT_EQ(one_way, claimed) << row.mnemonic << ' ' << a << ' ' << b;
            ++count[claimed];
          } else if (one_way != ZeroPair::none && !known_exception(row.mnemonic)) {
            EXPECT_EQ(found(machine, row, b, a), ZeroPair::none) << row.mnemonic << ' ' << a << ' ' << b << " is a product";
          }
        }
      }
    }
  }
  const bool gfx9 = GetParam() == Target::gfx90a;
  EXPECT_GE(count[ZeroPair::exact], gfx9 ? 70U : 40U);
  EXPECT_GE(count[ZeroPair::ieee], gfx9 ? 50U : 30U);
}

// Formats other than SOP2, VOP2, VOP3 and VOP3P have no zero pairs.
TEST_P(ZeroPairs, OtherInstructionsHaveNone) {
  const std::set<Format> with{Format::sop2, Format::vop2, Format::vop3a, Format::vop3p};
  for (const Format format : all_formats()) {
    if (with.contains(format)) continue;
    for (const InstructionRow& row : rows(format)) {
      for (unsigned a = 0; a < kMaxSources; ++a) {
        for (unsigned b = 0; b < kMaxSources; ++b) EXPECT_EQ(makes_irrelevant(row, a, b), ZeroPair::none) << row.mnemonic;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ZeroPairs, testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test
