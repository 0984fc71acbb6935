// Tests the lanes in which a source does not affect the result against execution: every multiply and AND instruction of the
// vector ALU, in all forms, with random sources, many of which are zero.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "models/isa/analysis/irrelevant_lanes.h"
#include "models/isa/decode/operand.h"
#include "tests/isa/analysis/row_forms.h"

namespace lacuna::isa::test {
namespace {

using Values = std::vector<std::uint64_t>;
constexpr unsigned kTrials = 12;
constexpr unsigned kReplacements = 3;
constexpr SourceLanes kAllThere{};

std::uint64_t lanes_where(const auto& holds) {
  std::uint64_t lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) lanes |= std::uint64_t{holds(lane)} << lane;
  return lanes;
}
std::uint64_t lanes_that_differ(const Outcome& a, const Outcome& b) {
  return (a.flags ^ b.flags) | lanes_where([&](unsigned lane) {
           return std::any_of(a.words.begin(), a.words.end(),
                              [&](const auto& word) { return word[lane] != b.words[&word - a.words.data()][lane]; });
         });
}

/// All state that an instruction can change: the state of the test's wavefront, and the host's floating-point state.
struct LaneState {
  explicit LaneState(const Wavefront& wave)
      : registers(wave.vgpr, wave.vgpr + kRegisters * kLanes),
        sgprs(wave.sgpr),
        mode(wave.mode.bits),
        event(wave.event),
        scc(wave.scc),
        host(detail::current_fp_setting) {}
  std::vector<std::uint32_t> registers;
  std::array<std::uint32_t, 128> sgprs;
  std::uint32_t mode;
  Event event;
  bool scc;
  FpSetting host;
  bool operator==(const LaneState&) const = default;
};

/// Numbers of cases of each kind that occurred, so that the test fails if a kind never occurs.
struct Seen {
  unsigned pairs[3] = {};  // by ZeroPair
  std::uint64_t irrelevant = 0;
  std::uint64_t differing = 0;
  std::uint64_t sign_only = 0;
};

class IrrelevantLanes : public testing::TestWithParam<Target> {
 protected:
  Machine m_{GetParam()};
  std::mt19937_64 random_{11};
  Seen seen_;

  std::uint64_t any() { return values()[random_() % values().size()]; }
  Values draw() {
    Values all(kLanes);
    for (std::uint64_t& v : all) v = any();
    return all;
  }
  // Draws zeros (`minus` is -0), values with a zero half or a zero word, and other values.
  Values draw_with_zeros(std::uint64_t minus) {
    Values all(kLanes);
    for (std::uint64_t& v : all) {
      const std::uint64_t kind = random_() % 10;
      v = any();
      if (kind < 4) v = 0;
      if (kind == 4) v = minus;
      if (kind == 5) v &= 0xffff'0000'ffff'0000;
      if (kind == 6) v &= 0x0000'ffff'0000'ffff;
      if (kind == 7) v &= random_() % 2 == 0 ? 0xffff'ffff : 0xffff'ffff'0000'0000;
    }
    return all;
  }

  void try_form(const InstructionRow& row, const Form& form, unsigned zero, unsigned other, unsigned trial);
  void try_row(const InstructionRow& row);
};

void IrrelevantLanes::try_form(const InstructionRow& row, const Form& form, unsigned zero, unsigned other, unsigned trial) {
  Subject subject(m_, row);
  const ZeroPair pair = makes_irrelevant(row, zero, other);
  const bool mixed = (row.flags & kMixedPrecision) != 0;
  const OperandType zero_type = source_type(row, zero);
  const std::uint64_t minus = !is_float_type(zero_type) ? 0 : negative_zero(mixed ? OperandType::f32 : zero_type);
  Values zeros = draw_with_zeros(minus);
  const bool literal_zero = form.literal == static_cast<int>(zero);
  if (literal_zero) std::fill(zeros.begin(), zeros.end(), trial % 2 == 0 ? 0 : minus);
  const Values others = draw();
  const Values thirds = draw_with_zeros(negative_zero(row.dst.types[0]));
  const std::uint64_t old = trial % 3 == 0 ? negative_zero(row.dst.types[0]) : any();
  Subject::Sources sources{&thirds, &thirds, &thirds};
  sources[zero] = &zeros;
  sources[other] = &others;

  const std::uint64_t exec = trial % 2 == 0 ? kAllLanes : random_() | random_();
  m_.wave.set_exec(exec);
  SourceLanes unavailable{};
  unavailable[other] = kAllLanes;
  unavailable[zero] = trial % 4 == 0 ? 0 : random_() & random_();
  unavailable[3 - zero - other] = random_();

  const Instruction instruction = subject.load(form, sources, old);
  const LaneState before(m_.wave);
  const std::uint64_t strict = irrelevant_lanes(instruction, m_.wave, other, unavailable, OtimesIeee::strict);
  const std::uint64_t paper = irrelevant_lanes(instruction, m_.wave, other, unavailable, OtimesIeee::paper);
  const std::uint64_t differing = differing_lanes(instruction, m_.wave, other, paper);
  ASSERT_TRUE(before == LaneState(m_.wave));

  const std::uint64_t known = exec & ~unavailable[zero];
  EXPECT_EQ(paper & ~known, 0U);
  EXPECT_EQ(differing & ~paper, 0U);
  EXPECT_EQ(strict, pair == ZeroPair::exact ? paper : 0);
  // Lanes in which the whole source is zero, of either sign, must be among the irrelevant lanes.
  const std::uint64_t width = words_of(zero_type) == 2 ? ~std::uint64_t{0} : 0xffff'ffff;
  const std::uint64_t plain = lanes_where([&](unsigned lane) {
    const std::uint64_t value = zeros[literal_zero ? 0 : lane];
    return ((value & width) == 0) || ((value ^ minus) & width) == 0;
  });
  EXPECT_EQ(plain & known & ~paper, 0U);

  const Outcome base = subject.execute(instruction);
  const auto with = [&](const Values& replaced) {
    Subject::Sources changed = sources;
    changed[other] = &replaced;
    m_.wave.set_exec(exec);
    return subject.execute(subject.load(form, changed, old));
  };
  const auto replace = [&](std::uint64_t lanes, const auto& value) {
    Values changed = others;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((lanes >> lane & 1) != 0) changed[lane] = value();
    }
    return changed;
  };
  // In strict mode the value of the operand must not matter.
  for (unsigned i = 0; i < kReplacements; ++i)
    EXPECT_EQ(lanes_that_differ(base, with(replace(strict, [&] { return any(); }))), 0U);
  // In paper mode, replacing the operand by +0 changes exactly the lanes that differing_lanes() returns.
  const Outcome without = with(replace(paper, [] { return 0; }));
  EXPECT_EQ(lanes_that_differ(base, without), differing);
  // The changes are due to NaN, infinity or the sign of a zero.
  Outcome finite_part = without;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (finite(others[lane], source_type(row, other), mixed)) continue;
    for (unsigned i = 0; i < kResultWords; ++i) finite_part.words[i][lane] = base.words[i][lane];
  }
  EXPECT_TRUE(same_values(row, base, finite_part));
  seen_.irrelevant += static_cast<unsigned>(std::popcount(paper));
  seen_.differing += static_cast<unsigned>(std::popcount(differing));
  seen_.sign_only += static_cast<unsigned>(std::popcount(lanes_that_differ(base, finite_part)));
}

void IrrelevantLanes::try_row(const InstructionRow& row) {
  for (unsigned other = 0; other < row.src.count; ++other) {
    for (unsigned zero = 0; zero < row.src.count; ++zero) {
      const ZeroPair pair = makes_irrelevant(row, zero, other);
      if (pair == ZeroPair::none) continue;
      ++seen_.pairs[static_cast<unsigned>(pair)];
      const std::vector<Form> forms = Subject(m_, row).forms();
      ASSERT_FALSE(forms.empty());
      for (const Form& form : forms) {
        EXPECT_TRUE(has_irrelevant_sources(form.instruction));
        const bool literal = form.literal == static_cast<int>(other);
        EXPECT_EQ(irrelevant_sources(form.instruction, OtimesIeee::paper) >> other & 1, literal ? 0U : 1U);
        EXPECT_EQ(irrelevant_sources(form.instruction, OtimesIeee::strict) >> other & 1,
                  literal || pair != ZeroPair::exact ? 0U : 1U);
        if (literal) continue;
        for (const unsigned mode : {0U, 1U, 2U, 7U}) {
          m_.wave.mode = mode_of(mode & 3, mode < 2, mode % 2 == 0, mode != 7);
          for (unsigned trial = 0; trial < kTrials; ++trial) try_form(row, form, zero, other, trial);
        }
      }
    }
  }
}

TEST_P(IrrelevantLanes, PartnerLanesOfAZeroAreIrrelevantForEveryPair) {
  for (const Format format : {Format::vop2, Format::vop3a, Format::vop3p}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.opcode[GetParam()] == kAbsent || row.execute == nullptr) continue;
      SCOPED_TRACE(row.mnemonic);
      try_row(row);
      if (HasFailure()) return;
    }
  }
  const bool gfx9 = GetParam() == Target::gfx90a;
  EXPECT_GE(seen_.pairs[static_cast<unsigned>(ZeroPair::exact)], gfx9 ? 56U : 30U);
  EXPECT_GE(seen_.pairs[static_cast<unsigned>(ZeroPair::ieee)], gfx9 ? 50U : 30U);
  EXPECT_GT(seen_.irrelevant, 100'000U);
  EXPECT_GT(seen_.differing, 5'000U);
  EXPECT_GT(seen_.sign_only, 1'000U);
}

// Properties of instructions that the copies in differing_lanes() rely on.
TEST_P(IrrelevantLanes, ProductsAreAtMostTwoRegistersWideAndOfOneKind) {
  for (const Format format : all_formats()) {
    for (const InstructionRow& row : rows(format)) {
      if ((row.flags & kZeroPairs) == 0 || format == Format::sop2) continue;
      for (unsigned i = 0; i < row.src.count; ++i) EXPECT_LE(words_of(row.src.types[i]), 2U) << row.mnemonic;
      EXPECT_LE(words_of(row.dst.types[0]), 2U) << row.mnemonic;
      if ((row.flags & kZeroByIeee) == 0) continue;
      EXPECT_EQ(row.dst.count, 1U) << row.mnemonic;
      // The third source is the addend.
      for (unsigned i = 2; i < row.src.count; ++i) {
        for (unsigned j = 0; j < 2; ++j) {
          EXPECT_EQ(makes_irrelevant(row, i, j), ZeroPair::none) << row.mnemonic;
          EXPECT_EQ(makes_irrelevant(row, j, i), ZeroPair::none) << row.mnemonic;
        }
      }
    }
  }
}

TEST_P(IrrelevantLanes, ScalarsAreZeroInAllLanesOrInNone) {
  m_.fill(kSrc1, 7);
  m_.wave.set_exec(0xff00ff);
  const auto lanes = [&](const Instruction& i, unsigned other = 1) {
    return irrelevant_lanes(i, m_.wave, other, kAllThere, OtimesIeee::paper);
  };
  EXPECT_EQ(lanes(m_.e32("v_mul_f32", kDst, integer_constant(0), kSrc1)), 0xff00ffU);
  EXPECT_EQ(lanes(m_.e32("v_mul_f32", kDst, kOne, kSrc1)), 0U);
  EXPECT_EQ(lanes(m_.e32("v_and_b32", kDst, kLiteral, kSrc1, 0)), 0xff00ffU);
  EXPECT_EQ(lanes(m_.e32("v_and_b32", kDst, kLiteral, kSrc1, 0x8000'0000)), 0U);
  EXPECT_EQ(lanes(m_.e32("v_mul_f32", kDst, kLiteral, kSrc1, 0x8000'0000)), 0xff00ffU);
  m_.wave.sgpr[9] = 0;
  EXPECT_EQ(lanes(m_.e32("v_mul_u32_u24", kDst, sgpr(9), kSrc1)), 0xff00ffU);
  m_.wave.sgpr[9] = 1;
  EXPECT_EQ(lanes(m_.e32("v_mul_u32_u24", kDst, sgpr(9), kSrc1)), 0U);
  // A pair of SGPRs whose high register is not zero.
  m_.wave.write64(10, std::uint64_t{1} << 32);
  EXPECT_EQ(lanes(m_.e64("v_mul_f64", kDst, {sgpr(10), vgpr(kSrc1), 0})), 0U);
  m_.wave.write64(10, std::uint64_t{1} << 63);
  EXPECT_EQ(lanes(m_.e64("v_mul_f64", kDst, {sgpr(10), vgpr(kSrc1), 0})), 0xff00ffU);
  // The SGPR itself is never irrelevant.
  m_.fill(kSrc1, 0);
  EXPECT_EQ(lanes(m_.e32("v_mul_u32_u24", kDst, sgpr(9), kSrc1), 0), 0U);
}

TEST_P(IrrelevantLanes, RegistersThatAreReadTwiceMatter) {
  for (const unsigned r : {kSrc0, kSrc1, kSrc1 + 1}) m_.fill(r, 0);
  const auto lanes = [&](const Instruction& i, unsigned other) {
    return irrelevant_lanes(i, m_.wave, other, kAllThere, OtimesIeee::paper);
  };
  const auto fma = [&](unsigned c) { return m_.e64("v_fma_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(c)}); };
  EXPECT_EQ(lanes(fma(kSrc2), 1), kAllLanes);
  EXPECT_EQ(lanes(fma(kSrc2), 2), 0U);
  EXPECT_EQ(lanes(fma(kSrc1), 1), 0U);
  EXPECT_EQ(lanes(fma(kSrc0), 1), kAllLanes);
  EXPECT_EQ(lanes(m_.e32("v_mul_f32", kDst, vgpr(kSrc0), kSrc0), 0), 0U);
  // An addend that shares one register with the source.
  const auto fma64 = [&](unsigned c) { return m_.e64("v_fma_f64", kDst, {vgpr(kSrc0), vgpr(kSrc1), vgpr(c)}); };
  EXPECT_EQ(lanes(fma64(kSrc2), 0), kAllLanes);
  EXPECT_EQ(lanes(fma64(kSrc0 - 1), 0), 0U);
  // The destination is the accumulator.
  EXPECT_EQ(lanes(m_.e32("v_mac_f32", kDst, vgpr(kSrc0), kSrc1), 1), kAllLanes);
  EXPECT_EQ(lanes(m_.e32("v_mac_f32", kSrc1, vgpr(kSrc0), kSrc1), 1), 0U);
  // The destination is only written.
  EXPECT_EQ(lanes(m_.e32("v_mul_f32", kSrc1, vgpr(kSrc0), kSrc1), 1), kAllLanes);
}

TEST_P(IrrelevantLanes, NoneWithSdwaOrDppOrVgprIndexing) {
  m_.fill(kSrc0, 0);
  const Instruction plain = m_.e32("v_mul_f32", kDst, vgpr(kSrc0), kSrc1);
  // SDWA with whole dwords; DPP with row_mask and bank_mask full, quad_perm 0 1 2 3.
  const Instruction sdwa = m_.e32("v_mul_f32", kDst, kSdwa, kSrc1, kSrc0 | 6U << 8 | 6U << 16 | 6U << 24);
  const Instruction dpp = m_.e32("v_mul_f32", kDst, kDpp, kSrc1, kSrc0 | 0xe4U << 8 | 0xffU << 24);
  const auto lanes = [&](const Instruction& i) { return irrelevant_lanes(i, m_.wave, 1, kAllThere, OtimesIeee::paper); };
  EXPECT_EQ(lanes(plain), kAllLanes);
  EXPECT_EQ(lanes(sdwa), 0U);
  EXPECT_EQ(lanes(dpp), 0U);
  EXPECT_FALSE(has_irrelevant_sources(sdwa));
  EXPECT_FALSE(has_irrelevant_sources(dpp));
  m_.wave.mode.enable_gpr_index(true);
  EXPECT_EQ(lanes(plain), 0U);
  m_.wave.mode.enable_gpr_index(false);
  m_.wave.mode.skip_vector(true);
  EXPECT_EQ(lanes(plain), 0U);
}

TEST_P(IrrelevantLanes, SignsOfProductsOfZeroAreSeenWhereNothingIsAdded) {
  m_.fill(kSrc0, 0);
  m_.fill(kSrc1, 0xc000'0000);  // -2
  const auto differing = [&](const Instruction& i) { return differing_lanes(i, m_.wave, 1, kAllLanes); };
  const Instruction mac = m_.e32("v_mac_f32", kDst, vgpr(kSrc0), kSrc1);
  EXPECT_EQ(differing(m_.e32("v_mul_f32", kDst, vgpr(kSrc0), kSrc1)), kAllLanes);
  const auto modified = [&](const Vop3& modifiers) {
    return differing(m_.e64("v_mul_f32", kDst, {vgpr(kSrc0), vgpr(kSrc1), 0}, modifiers));
  };
  EXPECT_EQ(modified({.neg = 2}), kAllLanes);
  EXPECT_EQ(modified({.abs = 1}), kAllLanes);
  EXPECT_EQ(modified({.abs = 2}), 0U) << "it has no sign";
  m_.at(kSrc1, 3) = 0xff80'0000;  // times infinity is NaN
  EXPECT_EQ(modified({}), kAllLanes);
  EXPECT_EQ(modified({.abs = 2}), std::uint64_t{1} << 3);
  m_.at(kSrc1, 3) = 0x8000'0000;
  EXPECT_EQ(modified({}), kAllLanes);
  m_.at(kSrc1, 3) = 0;
  EXPECT_EQ(modified({}), ~(std::uint64_t{1} << 3));
  m_.at(kSrc1, 3) = 0xc000'0000;
  m_.fill(kDst, 0x3f80'0000);
  EXPECT_EQ(differing(mac), 0U);
  m_.fill(kDst, 0);  // 0 - 0 is +0, but -0 when rounding down
  EXPECT_EQ(differing(mac), 0U);
  m_.wave.mode = mode_of(2, true);
  EXPECT_EQ(differing(mac), kAllLanes);
  m_.wave.mode = mode_of(0, true);
  m_.at(kDst, 5) = 0x8000'0000;
  EXPECT_EQ(differing(mac), std::uint64_t{1} << 5);
  m_.at(kSrc1, 9) = 0x7f80'0000;
  EXPECT_EQ(differing(mac), std::uint64_t{1} << 5 | std::uint64_t{1} << 9);
  EXPECT_EQ(differing_lanes(mac, m_.wave, 1, 0xff), std::uint64_t{1} << 5);
  m_.fill(kSrc1, 0xffff'ffff);
  EXPECT_EQ(differing(m_.e32("v_and_b32", kDst, vgpr(kSrc0), kSrc1)), 0U);
}

TEST(IrrelevantLanesOfHalves, OnlyTheHalvesThatOpSelSelectsAreRead) {
  Machine m(Target::gfx90a);
  const auto lanes = [&](const Instruction& i) { return irrelevant_lanes(i, m.wave, 1, kAllThere, OtimesIeee::paper); };
  const std::array sources{vgpr(kSrc0), vgpr(kSrc1), vgpr(kSrc2)};
  m.fill(kSrc0, 0x3c00'8000);  // the low half is zero
  m.fill(kSrc0 + 1, 0);
  EXPECT_EQ(lanes(m.e64("v_mad_f16", kDst, sources)), kAllLanes);
  EXPECT_EQ(lanes(m.e64("v_mad_f16", kDst, sources, {.op_sel = 1})), 0U);
  EXPECT_EQ(lanes(m.e64("v_mad_f16", kDst, sources, {.op_sel = 2})), kAllLanes);
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f16", kDst, sources)), 0U);
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f16", kDst, sources, {.op_sel_hi = 6})), kAllLanes);
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f16", kDst, sources, {.op_sel = 1, .op_sel_hi = 6})), 0U);
  EXPECT_EQ(lanes(m.vop3p("v_dot2_f32_f16", kDst, sources, {.op_sel_hi = 6})), kAllLanes);
  EXPECT_EQ(lanes(m.vop3p("v_fma_mix_f32", kDst, sources)), kAllLanes);
  EXPECT_EQ(lanes(m.vop3p("v_fma_mix_f32", kDst, sources, {.op_sel = 1})), 0U);
  EXPECT_EQ(lanes(m.vop3p("v_fma_mix_f32", kDst, sources, {.op_sel_hi = 6})), 0U);
  // Packed f32: the low register is not zero, the high register is zero.
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f32", kDst, sources)), 0U);
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f32", kDst, sources, {.op_sel = 1})), kAllLanes);
  EXPECT_EQ(lanes(m.vop3p("v_pk_fma_f32", kDst, sources, {.op_sel_hi = 6})), 0U);
}

INSTANTIATE_TEST_SUITE_P(Targets, IrrelevantLanes, testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test
