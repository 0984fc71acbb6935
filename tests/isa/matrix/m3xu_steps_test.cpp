// Tests the step model of M3XU against MPFR, and the results of designs with the numbers printed in the thesis
// (docs/guide/matrix-unit-arithmetic.md).
#include "models/isa/matrix/m3xu_steps.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

#include "tests/isa/matrix/matrix_reference.h"
#include "tests/isa/matrix/matrix_values.h"

namespace lacuna::isa::test {
namespace {

using m3xu::Design;
using m3xu::Format;
using m3xu::Wide;
using Row = std::vector<std::uint64_t>;

std::uint64_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }
float number(std::uint64_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }

float dot(const Design& design, const std::vector<float>& a, const std::vector<float>& b, float c) {
  Row of_a;
  Row of_b;
  for (const float v : a) of_a.push_back(bits(v));
  for (const float v : b) of_b.push_back(bits(v));
  return number(m3xu::dot(design, Format::fp32, of_a, of_b, bits(c)));
}

// -- stages

TEST(M3xuSteps, DataAssignmentSplitsTheSignificand) {
  // The first part has the hidden bit and the upper 11 of 23 bits, the second the lower 12. Both have sign and exponent.
  const m3xu::Assigned f = m3xu::assign({}, Format::fp32, 0xc0490fdb);
  EXPECT_EQ(f.parts[0].significand, 0xc90U);
  EXPECT_EQ(f.parts[1].significand, 0xfdbU);
  EXPECT_TRUE(f.parts[0].negative && f.parts[1].negative);
  EXPECT_EQ(f.parts[0].exponent, 1);
  EXPECT_EQ(f.parts[1].exponent, 1);
  const m3xu::Assigned denormal = m3xu::assign({}, Format::fp32, 0x00001001);
  EXPECT_EQ(denormal.parts[0].significand, 1U);  // no hidden bit
  EXPECT_EQ(denormal.parts[1].significand, 1U);
  EXPECT_EQ(denormal.parts[0].exponent, -126);
  // Narrow formats: the hidden bit is the top bit, unused bits are zero.
  const Design one_part = m3xu::exact_design(Format::fp16);
  EXPECT_EQ(m3xu::assign(one_part, Format::fp16, 0x3c01).parts[0].significand, 0x802U);
  EXPECT_EQ(m3xu::assign(one_part, Format::bf16, 0x3f81).parts[0].significand, 0x810U);
  EXPECT_EQ(m3xu::assign(one_part, Format::tf32, 0x3f803fff).parts[0].significand, 0x802U);
}

TEST(M3xuSteps, TwoStepsMakeTheProduct) {
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 1000; ++i) {
    const std::uint64_t x = random() & 0x7fffff;
    const std::uint64_t y = random() & 0x7fffff;
    const m3xu::Assigned a = m3xu::assign({}, Format::fp32, 0x3f800000 | x);
    const m3xu::Assigned b = m3xu::assign({}, Format::fp32, 0x3f800000 | y);
    const std::uint64_t ah = a.parts[0].significand, al = a.parts[1].significand;
    const std::uint64_t bh = b.parts[0].significand, bl = b.parts[1].significand;
    EXPECT_EQ(static_cast<std::uint64_t>(m3xu::step_product({}, a, b, 0)), (ah * bh << 24) + al * bl);
    EXPECT_EQ(static_cast<std::uint64_t>(m3xu::step_product({}, a, b, 1)), (ah * bl + al * bh) << 12);
    const Wide sum = m3xu::step_product({}, a, b, 0) + m3xu::step_product({}, a, b, 1);
    EXPECT_EQ(static_cast<std::uint64_t>(sum), (x | 0x800000) * (y | 0x800000));
  }
}

TEST(M3xuSteps, StepsFollowFromPartsAndMultipliers) {
  EXPECT_EQ(m3xu::steps(m3xu::exact_design(Format::fp16), 16), 1U);
  EXPECT_EQ(m3xu::steps(m3xu::exact_design(Format::tf32), 16), 1U);
  EXPECT_EQ(m3xu::steps(m3xu::exact_design(Format::fp32), 8), 2U);
  EXPECT_EQ(m3xu::steps(m3xu::exact_design(Format::fp32), 4 * 4), 4U);  // FP32C, K = 4
  EXPECT_EQ(m3xu::steps(m3xu::exact_design(Format::fp64), 4), 4U);
  EXPECT_EQ(m3xu::steps({12, 5}, 4), 7U);  // 5 x 5 products of 12-bit parts for 53 significand bits
  EXPECT_EQ(m3xu::steps({27, 2}, 4), 1U);
}

// -- against MPFR

class M3xuFormat : public ::testing::TestWithParam<Format> {};

TEST_P(M3xuFormat, EqualsTheChainOfRoundedSums) {
  std::mt19937_64 random(2);
  unsigned failures = 0;
  for (unsigned i = 0; i < 60000 && failures < 4; ++i) {
    const unsigned length = 1 + static_cast<unsigned>(random() % 4);
    const DotOperands o = dot_operands(GetParam(), length, random);
    const std::uint64_t got = m3xu::dot(m3xu::exact_design(GetParam()), GetParam(), o.a, o.b, o.c);
    const std::uint64_t want = dot_reference(GetParam(), o.a, o.b, o.c);
    if (got == want) continue;
    ++failures;
    ADD_FAILURE() << std::hex << "a " << ::testing::PrintToString(o.a) << " b " << ::testing::PrintToString(o.b) << " c " << o.c
                  << ": got " << got << ", want " << want;
  }
}

TEST_P(M3xuFormat, SpecialValuesInAllCombinations) {
  const Design design = m3xu::exact_design(GetParam());
  const Row inputs = special_inputs(GetParam());
  const Row sums = special_values(result_format(GetParam()));
  unsigned failures = 0;
  for (const std::uint64_t a : inputs) {
    for (const std::uint64_t b : inputs) {
      for (const std::uint64_t c : sums) {
        const std::uint64_t got = m3xu::dot(design, GetParam(), Row{a}, Row{b}, c);
        const std::uint64_t want = dot_reference(GetParam(), Row{a}, Row{b}, c);
        if (got != want && ++failures < 4)
          ADD_FAILURE() << std::hex << a << " * " << b << " + " << c << " is " << want << ", not " << got;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Format>& info) {
  constexpr const char* kNames[] = {"fp16", "bf16", "tf32", "fp32", "fp64"};
  return kNames[static_cast<unsigned>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(All, M3xuFormat,
                         ::testing::Values(Format::fp16, Format::bf16, Format::tf32, Format::fp32, Format::fp64), name_of);

TEST(M3xuSteps, ComplexEqualsFourChains) {
  std::mt19937_64 random(3);
  for (unsigned i = 0; i < 20000; ++i) {
    const DotOperands re = dot_operands(Format::fp32, 6, random);
    const DotOperands im = dot_operands(Format::fp32, 6, random);
    std::vector<m3xu::Complex> a(3), b(3);
    m3xu::Complex c{static_cast<std::uint32_t>(re.c), static_cast<std::uint32_t>(im.c)};
    for (unsigned k = 0; k < 3; ++k) {
      a[k] = {static_cast<std::uint32_t>(re.a[2 * k]), static_cast<std::uint32_t>(re.a[2 * k + 1])};
      b[k] = {static_cast<std::uint32_t>(re.b[2 * k]), static_cast<std::uint32_t>(re.b[2 * k + 1])};
    }
    ASSERT_EQ(m3xu::dot(m3xu::exact_design(Format::fp32), a, b, c), complex_reference(a, b, c)) << "case " << i;
  }
}

// Other part widths for FP64 give the same bits if the parts together have room for 53 bits.
TEST(M3xuSteps, Fp64ResultsAreEqualIfThePartsHoldAtLeast53Bits) {
  const Design exact = m3xu::exact_design(Format::fp64);
  Design halves = exact;
  halves.multiplier_bits = 27;
  halves.parts = 2;
  Design narrow = exact;
  narrow.multiplier_bits = 12;
  narrow.parts = 5;
  std::mt19937_64 random(4);
  for (unsigned i = 0; i < 5000; ++i) {
    const DotOperands o = dot_operands(Format::fp64, 2, random);
    const std::uint64_t want = m3xu::dot(exact, Format::fp64, o.a, o.b, o.c);
    ASSERT_EQ(m3xu::dot(halves, Format::fp64, o.a, o.b, o.c), want);
    ASSERT_EQ(m3xu::dot(narrow, Format::fp64, o.a, o.b, o.c), want);
  }
}

// -- results of designs with numbers of the thesis

constexpr float kLast = 0x1p-23F;  // last bit of 1.0

TEST(M3xuThesis, ShiftOfSixteenMisplacesCrossProducts) {
  Design design;
  EXPECT_EQ(dot(design, {1 + kLast}, {1}, 0), 1 + kLast);
  design.second_step_shift = 16;
  EXPECT_EQ(dot(design, {1 + kLast}, {1}, 0), 1 + 0x1p-19F);  // 16 times too large
}

TEST(M3xuThesis, ElevenBitMultipliersLoseTwoBits) {
  Design design;
  design.multiplier_bits = 11;
  EXPECT_EQ(dot(design, {1 + kLast}, {1}, 0), 1);
  EXPECT_EQ(dot(design, {1 + 3 * kLast}, {1}, 0), 1);
  EXPECT_EQ(dot(design, {1 + 4 * kLast}, {1}, 0), 1 + 4 * kLast);
}

TEST(M3xuThesis, FortyEightBitsHoldAProductButNoSum) {
  Design design = m3xu::kThesis;
  design.second_step_shift.reset();
  // Products of one dot product with different exponents: the smaller product is below the register's last bit; without the
  // larger product it is kept.
  EXPECT_EQ(dot({}, {1, 0x1p-30F}, {1, 0x1p-30F}, -1), 0x1p-60F);
  EXPECT_EQ(dot(design, {1, 0x1p-30F}, {1, 0x1p-30F}, -1), 0);
  // A single product, just above the middle between two results.
  const std::vector<float> a{1 + 0x1p-12F};
  const std::vector<float> b{0x1p-24F * (1 - 0x1p-12F + 0x1p-23F)};
  EXPECT_EQ(dot({}, a, b, 1), 1 + kLast);
  EXPECT_EQ(dot(design, a, b, 1), 1);
  // A wider register does not give the results of vector units either, which round after every product.
  EXPECT_EQ(dot({}, {0x1p-24F, 0x1p-24F}, {1, 1}, 1), 1);
  design.accumulator_bits = 100;
  EXPECT_EQ(dot(design, {0x1p-24F, 0x1p-24F}, {1, 1}, 1), 1 + kLast);
}

// The register needs 2 p + 3 bits: up to p leading zeros of a product with a denormal factor, another leading zero if C has the
// opposite sign, the p bits of the result, a rounding bit and the sticky bit.
TEST(M3xuThesis, NarrowestAccumulationRegister) {
  const auto check = [](Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    Design design = m3xu::exact_design(format);
    const std::uint64_t want = dot_reference(format, Row{a}, Row{b}, c);
    EXPECT_EQ(design.accumulator_bits, 2U * static_cast<unsigned>(result_format(format).precision) + 3);
    EXPECT_EQ(m3xu::dot(design, format, Row{a}, Row{b}, c), want);
    --design.accumulator_bits;
    EXPECT_NE(m3xu::dot(design, format, Row{a}, Row{b}, c), want);
  };
  check(Format::fp32, bits(0x1p-149F), bits(-0x1p107F), 0x2879448e);
  check(Format::fp64, 1, 0x4620000000000000, 0x8009d2585167a7a6);
}

TEST(M3xuThesis, DoublesInTwelveBitHalves) {
  const auto one_plus = [](Design design, int exponent) {
    const Row a{std::bit_cast<std::uint64_t>(1 + std::ldexp(1.0, exponent))};
    return std::bit_cast<double>(m3xu::dot(design, Format::fp64, a, Row{std::bit_cast<std::uint64_t>(1.0)}, 0)) - 1;
  };
  Design design = m3xu::exact_design(Format::fp64);
  EXPECT_EQ(one_plus(design, -52), 0x1p-52);
  design.multiplier_bits = 12;
  EXPECT_EQ(one_plus(design, -48), 0);  // four parts: 48 bits
  EXPECT_EQ(one_plus(design, -47), 0x1p-47);
  design.parts = 2;
  EXPECT_EQ(one_plus(design, -24), 0);  // two parts: 24 bits
  EXPECT_EQ(one_plus(design, -23), 0x1p-23);
}

}  // namespace
}  // namespace lacuna::isa::test
