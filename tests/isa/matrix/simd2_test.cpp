// Tests all operators of SIMD2, dense and 2:4 sparse, against a reference: sums by MPFR, and selections from a list of all
// values, which is not reduced one by one. Also tests the list of codes of both extensions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "models/isa/matrix/matrix_extensions.h"
#include "tests/isa/matrix/matrix_machine.h"
#include "tests/isa/matrix/matrix_reference.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kSize = 16;
constexpr unsigned kA = 0, kB = 8, kC = 32, kD = 96;
constexpr unsigned kOfHalves = 0x4d, kOfDoubles = 0x6e;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum Operator : unsigned { mma, minplus, maxplus, minmul, maxmul, minmax, maxmin, orand, addnorm };
constexpr std::array kNames{"mma", "minplus", "maxplus", "minmul", "maxmul", "minmax", "maxmin", "orand", "addnorm"};
constexpr std::array kAll{mma, minplus, maxplus, minmul, maxmul, minmax, maxmin, orand, addnorm};

constexpr unsigned kOne = 0x3c00, kNan = 0x7e00, kHalfInfinity = 0x7c00;
constexpr std::uint32_t kDefaultNan = 0xffc00000;

std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }
float number(std::uint32_t v) { return std::bit_cast<float>(v); }

/// The value of a half. A double represents any product or sum of two halves exactly.
double exact(unsigned half) {
  const int exponent = static_cast<int>(half >> 10 & 31);
  const double fraction = half & 0x3ff;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Product {
  unsigned a, b;
};

std::uint32_t reference(Operator op, const std::vector<Product>& products, std::uint32_t c) {
  const bool least = op == minplus || op == minmul || op == minmax;
  if (op == mma || op == addnorm) {
    std::vector<std::uint64_t> a;
    std::vector<std::uint64_t> b;
    std::uint64_t sum = c;
    for (const Product& p : products) {
      a.push_back(p.a);
      b.push_back(p.b);
      if (op == mma) continue;
      const std::uint64_t x = converted(p.a, kHalf16, kSingle, {});
      const std::uint64_t y = converted(p.b ^ (kHalf16.nan(p.b) ? 0 : 0x8000), kHalf16, kSingle, {});
      const std::uint64_t difference = add(x, y, kSingle, {});
      sum = fused(difference, difference, sum, kSingle, {});
    }
    if (op == mma) return static_cast<std::uint32_t>(dot_reference(m3xu::Format::fp16, a, b, c));
    return kSingle.nan(sum) ? kDefaultNan : static_cast<std::uint32_t>(sum);
  }
  if (op == orand) {
    const bool any =
        std::any_of(products.begin(), products.end(), [](const Product& p) { return exact(p.a) != 0 && exact(p.b) != 0; });
    return bits(any || number(c) != 0 ? 1 : 0);
  }
  // Operands of the selection, C first: of equal values, such as zeros of both signs, the first value is selected.
  std::vector<float> values{std::isnan(number(c)) ? (least ? kInfinity : -kInfinity) : number(c)};
  for (const Product& p : products) {
    const double a = exact(p.a);
    const double b = exact(p.b);
    double x = 0;
    if (op == minplus || op == maxplus) x = a + b;
    if (op == minmul || op == maxmul) x = a * b;
    if (op == minmax) x = a > b ? a : b;
    if (op == maxmin) x = a < b ? a : b;
    if (!std::isnan(a) && !std::isnan(b) && !std::isnan(x)) values.push_back(static_cast<float>(x));
  }
  return bits(least ? *std::min_element(values.begin(), values.end()) : *std::max_element(values.begin(), values.end()));
}

/// A before elements are dropped: in the sparse form, `position` has the positions of the two elements that are kept in each
/// group of four.
struct Matrices {
  unsigned a[kSize][kSize], b[kSize][kSize];
  std::uint32_t c[kSize][kSize];
  unsigned position[kSize][4][2];
};

constexpr MatrixCodes kSimd2{MatrixExtensions::simd2, MatrixDesign::m3xu_pipelined};

class Machine : public MatrixMachine {
 public:
  Machine() : MatrixMachine(kSimd2) {}

  void store(const Matrices& m, bool sparse) {
    for (unsigned i = 0; i < kSize; ++i) {
      for (unsigned g = 0; g < 4; ++g) {
        const unsigned lane = i + 16 * g;
        const unsigned* const a = &m.a[i][4 * g];
        const unsigned* const kept = m.position[i][g];
        wave.v(kA)[lane] = sparse ? a[kept[0]] | a[kept[1]] << 16 : a[0] | a[1] << 16;
        // Bits above the positions are ignored.
        wave.v(kA + 1)[lane] = sparse ? kept[0] | kept[1] << 2 | 0xabcdef10 : a[2] | a[3] << 16;
        wave.v(kB)[lane] = m.b[4 * g][i] | m.b[4 * g + 1][i] << 16;
        wave.v(kB + 1)[lane] = m.b[4 * g + 2][i] | m.b[4 * g + 3][i] << 16;
        for (unsigned r = 0; r < 4; ++r) wave.v(kC + r)[lane] = m.c[4 * g + r][i];
      }
    }
  }

  void execute(Operator op, bool sparse, unsigned d = kD) {
    MatrixWords words{kOfHalves, d, kA, kB, 256 + kC};
    words.cbsz = 7;
    words.abid = op;
    words.blgp = sparse ? 1 : 0;
    const Instruction instruction = decode_words(words.low(), words.high());
    EXPECT_EQ(instruction.passes, sparse ? 4 : 8);
    run(instruction);
    EXPECT_EQ(wave.event, Event::none);
  }

  std::uint32_t result(unsigned row, unsigned column, unsigned d = kD) { return wave.v(d + row % 4)[column + 16 * (row / 4)]; }
};

void check(const Matrices& m, Operator op, bool sparse) {
  Machine machine;
  machine.store(m, sparse);
  const unsigned d = m.c[0][0] % 2 == 0 ? kD : kC;
  machine.execute(op, sparse, d);
  unsigned failures = 0;
  for (unsigned i = 0; i < kSize; ++i) {
    for (unsigned j = 0; j < kSize && failures < 4; ++j) {
      std::vector<Product> products;
      for (unsigned k = 0; k < kSize; ++k) {
        if (!sparse) products.push_back({m.a[i][k], m.b[k][j]});
        if (sparse && k % 4 < 2) {
          const unsigned at = k / 4 * 4 + m.position[i][k / 4][k % 4];
          products.push_back({m.a[i][at], m.b[at][j]});
        }
      }
      const std::uint32_t want = reference(op, products, m.c[i][j]);
      const std::uint32_t got = machine.result(i, j, d);
      if (got == want) continue;
      ++failures;
      ADD_FAILURE() << kNames[op] << (sparse ? " sparse" : "") << " [" << i << "][" << j << "] is " << std::hex << got
                    << ", not " << want;
    }
  }
}

Matrices random_matrices(std::mt19937_64& random, unsigned style) {
  MatrixValues halves(kHalf16, random);
  MatrixValues singles(kSingle, random);
  const auto half = [&]() -> unsigned {
    switch (style) {
      case 0:  // values of moderate size
        return static_cast<unsigned>(halves.moderate(4));
      case 1:  // few different values: many are equal, zeros of both signs among them
        return std::array{0U, 0x8000U, kOne, kOne | 0x8000, 0x4000U}[random() % 5];
      case 2:
        return static_cast<unsigned>(halves.mixed());
      case 3:  // a sparse graph: infinity stands for a missing edge
        return random() % 4 != 0 ? kHalfInfinity : static_cast<unsigned>(halves.moderate(2));
      default:
        return static_cast<unsigned>(halves.any());
    }
  };
  Matrices m;
  for (unsigned i = 0; i < kSize; ++i) {
    for (unsigned j = 0; j < kSize; ++j) {
      m.a[i][j] = half();
      m.b[i][j] = half();
      const std::uint64_t special = style == 1 ? random() % 2 << 31 : singles.mixed();
      m.c[i][j] = style == 0 ? static_cast<std::uint32_t>(singles.moderate(4)) : static_cast<std::uint32_t>(special);
    }
    for (auto& group : m.position[i]) {
      group[0] = static_cast<unsigned>(random() % 4);
      group[1] = (group[0] + 1 + static_cast<unsigned>(random() % 3)) % 4;  // the two positions may descend
    }
  }
  return m;
}

class Simd2 : public ::testing::TestWithParam<Operator> {};

TEST_P(Simd2, EqualsTheReference) {
  std::mt19937_64 random(GetParam() + 1);
  for (unsigned i = 0; i < 40; ++i) {
    const Matrices m = random_matrices(random, i % 5);
    check(m, GetParam(), false);
    if (GetParam() != addnorm) check(m, GetParam(), true);
  }
}

// A dense A with two neutral elements of its operator in each group gives the same results as the sparse form.
TEST_P(Simd2, SparseEqualsDenseWithNeutralElements) {
  if (GetParam() == addnorm) return;
  const bool sums = GetParam() == mma || GetParam() == orand;
  const unsigned nothing = sums ? 0 : kNan;
  std::mt19937_64 random(GetParam() + 100);
  for (unsigned run = 0; run < 8; ++run) {
    // 0 times infinity is a NaN: no infinities here.
    Matrices m = random_matrices(random, run % 2);
    for (unsigned i = 0; i < kSize; ++i) {
      for (unsigned k = 0; k < kSize; ++k) {
        unsigned* const kept = m.position[i][k / 4];
        if (kept[0] > kept[1]) std::swap(kept[0], kept[1]);
        if (kept[0] != k % 4 && kept[1] != k % 4) m.a[i][k] = nothing;
      }
    }
    if (GetParam() == mma) {
      for (auto& row : m.c) std::fill(std::begin(row), std::end(row), 0);
    }
    Machine dense;
    dense.store(m, false);
    dense.execute(GetParam(), false);
    Machine sparse;
    sparse.store(m, true);
    sparse.execute(GetParam(), true);
    for (unsigned i = 0; i < kSize; ++i) {
      for (unsigned j = 0; j < kSize; ++j) ASSERT_EQ(sparse.result(i, j), dense.result(i, j)) << i << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Simd2, ::testing::ValuesIn(kAll), [](const auto& one) { return std::string(kNames[one.param]); });

// -- single values

/// Returns D[0][0] for the products A[0][k] x B[k][0] from k = 0 on, and `c` as C[0][0]; all other elements contribute nothing.
std::uint32_t one_element(Operator op, const std::vector<Product>& products, std::uint32_t c) {
  const unsigned nothing = op == mma || op == orand || op == addnorm ? 0 : kNan;
  Matrices m{};
  for (unsigned k = 0; k < kSize; ++k) {
    m.a[0][k] = k < products.size() ? products[k].a : nothing;
    m.b[k][0] = k < products.size() ? products[k].b : nothing;
  }
  m.c[0][0] = c;
  Machine machine;
  machine.store(m, false);
  machine.execute(op, false);
  return machine.result(0, 0);
}

TEST(Simd2Values, IdentitiesLeaveTheProduct) {
  const std::vector<Product> product{{0x4200, 0x4000}};  // 3 and 2
  EXPECT_EQ(one_element(mma, product, 0), bits(6));
  EXPECT_EQ(one_element(addnorm, product, 0), bits(1));
  EXPECT_EQ(one_element(orand, product, 0), bits(1));
  EXPECT_EQ(one_element(minplus, product, bits(kInfinity)), bits(5));
  EXPECT_EQ(one_element(minmul, product, bits(kInfinity)), bits(6));
  EXPECT_EQ(one_element(minmax, product, bits(kInfinity)), bits(3));
  EXPECT_EQ(one_element(maxplus, product, bits(-kInfinity)), bits(5));
  EXPECT_EQ(one_element(maxmul, product, bits(-kInfinity)), bits(6));
  EXPECT_EQ(one_element(maxmin, product, bits(-kInfinity)), bits(2));
}

TEST(Simd2Values, WithoutAProductCStays) {
  for (const Operator op : kAll) {
    const float c = op == orand ? 1 : -2.5F;
    EXPECT_EQ(one_element(op, {}, bits(c)), bits(c)) << kNames[op];
  }
}

TEST(Simd2Values, NanIsPassedOverByMinAndMax) {
  for (const Operator op : {minplus, maxplus, minmul, maxmul, minmax, maxmin}) {
    const bool least = op == minplus || op == minmul || op == minmax;
    for (const Product p : {Product{kNan, kOne}, Product{kOne, kNan}, Product{kNan, kNan}, Product{0x7c01, kHalfInfinity}}) {
      EXPECT_EQ(one_element(op, {p}, bits(3)), bits(3)) << kNames[op];
      EXPECT_EQ(one_element(op, {p}, bits(least ? kInfinity : -kInfinity)), bits(least ? kInfinity : -kInfinity)) << kNames[op];
    }
    // A NaN in C is treated as the identity.
    EXPECT_EQ(one_element(op, {{kOne, kOne}}, 0x7fc00000),
              one_element(op, {{kOne, kOne}}, bits(least ? kInfinity : -kInfinity)));
    EXPECT_EQ(one_element(op, {}, 0xff800001), bits(least ? kInfinity : -kInfinity));
  }
  EXPECT_EQ(one_element(minplus, {{kHalfInfinity, kHalfInfinity | 0x8000}}, bits(3)), bits(3));  // infinity - infinity
  EXPECT_EQ(one_element(maxmul, {{kHalfInfinity, 0}}, bits(-3)), bits(-3));                      // 0 x infinity
}

TEST(Simd2Values, NanGivesTheDefaultNanInMmaAndAddnormAndTrueInOrand) {
  EXPECT_EQ(one_element(mma, {{kNan, kOne}}, 0), kDefaultNan);
  EXPECT_EQ(one_element(addnorm, {{kHalfInfinity, kHalfInfinity}}, 0), kDefaultNan);
  EXPECT_EQ(one_element(addnorm, {}, 0x7f812345), kDefaultNan);
  EXPECT_EQ(one_element(orand, {{kNan, kOne}}, 0), bits(1));  // NaN is not zero
  EXPECT_EQ(one_element(orand, {}, 0x7f800001), bits(1));
  EXPECT_EQ(one_element(orand, {{kNan, 0x8000}}, 0x80000000), bits(0));
}

TEST(Simd2Values, EqualZerosKeepTheAccumulator) {
  constexpr std::uint32_t kMinusZero = 0x80000000;
  EXPECT_EQ(one_element(minplus, {{0x8000, 0x8000}}, 0), 0U);
  EXPECT_EQ(one_element(maxplus, {{0, 0}}, kMinusZero), kMinusZero);
  EXPECT_EQ(one_element(minmul, {{0x8000, kOne}}, 0), 0U);
  EXPECT_EQ(one_element(maxmin, {{0, 0}}, kMinusZero), kMinusZero);
  EXPECT_EQ(one_element(minmax, {{0x8000, 0x8000}, {0, 0}}, bits(1)), kMinusZero);  // of equal products, the first one
}

TEST(Simd2Values, DenormalHalvesCountButForMma) {
  EXPECT_EQ(one_element(minplus, {{0x0001, 0}}, bits(kInfinity)), bits(0x1p-24F));
  EXPECT_EQ(one_element(maxmul, {{0x03ff, 0x0001}}, bits(-kInfinity)), bits(1023 * 0x1p-48F));
  EXPECT_EQ(one_element(orand, {{0x0001, 0x8001}}, 0), bits(1));
  EXPECT_EQ(one_element(orand, {}, 1), bits(1));
  EXPECT_EQ(one_element(addnorm, {{0x0001, 0}}, 0), bits(0x1p-48F));
  EXPECT_EQ(one_element(minmax, {{0x0002, 0x0001}}, bits(kInfinity)), bits(0x1p-23F));
  EXPECT_EQ(one_element(mma, {{0x0001, kOne}}, 0), 0U);  // denormals are flushed, as in the plain instruction
}

TEST(Simd2Values, SumsAreRoundedToSingles) {
  // 65504 + 2^-24 has 40 bits.
  EXPECT_EQ(one_element(minplus, {{0x7bff, 0x0001}}, bits(kInfinity)), bits(65504));
  EXPECT_EQ(one_element(addnorm, {{0x7bff, 0x8001}}, 0), bits(65504.0F * 65504.0F));
}

// -- the list of codes

using Code = std::tuple<unsigned, unsigned, unsigned, unsigned>;  // opcode, CBSZ, ABID, BLGP

std::set<Code> codes_of(MatrixExtensions extensions, MatrixDesign design) {
  std::set<Code> codes;
  if (has(extensions, MatrixExtensions::simd2)) {
    for (unsigned op = mma; op <= addnorm; ++op) {
      codes.insert({kOfHalves, 7, op, 0});
      if (op != addnorm) codes.insert({kOfHalves, 7, op, 1});
    }
  }
  if (has(extensions, MatrixExtensions::m3xu)) {
    codes.insert({{kOfHalves, 6, 0, 1}, {kOfHalves, 6, 0, 2}});
    if (design != MatrixDesign::fp32_native) codes.insert({{kOfDoubles, 6, 0, 3}, {kOfDoubles, 6, 0, 4}});
  }
  return codes;
}

TEST(MatrixCodes, NoOthersThanThoseOfTheTable) {
  for (const auto extensions :
       {MatrixExtensions::none, MatrixExtensions::m3xu, MatrixExtensions::simd2, MatrixExtensions::all}) {
    for (const auto design : {MatrixDesign::m3xu_pipelined, MatrixDesign::m3xu, MatrixDesign::fp32_native}) {
      const std::set<Code> codes = codes_of(extensions, design);
      MatrixMachine machine({extensions, design});
      for (const unsigned opcode : {kOfHalves, kOfDoubles, 0x45U, 0x55U, 0x67U, 0x6dU}) {  // all multiply a single block
        for (unsigned fields = 0; fields < 8 * 16 * 8; ++fields) {
          MatrixWords words{opcode, kD, kA, kB, 256 + kC};
          words.cbsz = fields & 7;
          words.abid = fields >> 3 & 15;
          words.blgp = fields >> 7;
          const bool plain = words.cbsz == 0 && words.abid == 0 && (words.blgp == 0 || opcode != kOfDoubles);
          const bool legal = plain || codes.count({opcode, words.cbsz, words.abid, words.blgp}) != 0;
          machine.run(machine.decode_words(words.low(), words.high()));
          ASSERT_EQ(machine.wave.event, legal ? Event::none : Event::illegal_instruction)
              << std::hex << opcode << " cbsz " << words.cbsz << " abid " << words.abid << " blgp " << words.blgp;
        }
      }
    }
  }
}

TEST(MatrixCodes, SeveralBlocksBroadcastAsBefore) {
  MatrixMachine machine({MatrixExtensions::all, MatrixDesign::m3xu_pipelined});
  for (const unsigned opcode : {0x42U, 0x4aU}) {  // 16 blocks of 4x4
    MatrixWords words{opcode, kD, kA, kB, 256 + kC};
    for (unsigned cbsz = 0; cbsz < 8; ++cbsz) {
      words.cbsz = cbsz;
      machine.run(machine.decode_words(words.low(), words.high()));
      EXPECT_EQ(machine.wave.event, cbsz <= 4 ? Event::none : Event::illegal_instruction);
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test
