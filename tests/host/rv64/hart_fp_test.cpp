// Tests the hart's floating point: its implementation in integer arithmetic against the host's floating-point unit, and its
// results against tables of edge cases in all rounding modes, exact products, and the host's conversions.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "models/host/rv64/rv64_fp.h"

namespace lacuna::rv64 {
namespace {

using Single = std::uint32_t;
using Double = std::uint64_t;

constexpr std::array kModes = {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up,
                               Rounding::nearest_max_magnitude};
constexpr std::array kHostModes = {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up};

/// Numbers around every boundary of a format: zeros, subnormals, the normal range's ends, ones, halves, infinities, NaNs.
template <FloatBits Bits>
std::vector<Bits> edges() {
  const auto one = static_cast<Bits>(((Bits{1} << (kExponentBits<Bits> - 1)) - 1) << kMantissaBits<Bits>);
  const Bits unit = Bits{1} << kMantissaBits<Bits>;
  std::vector<Bits> values = {0,
                              1,
                              2,
                              kMantissa<Bits> - 1,
                              kMantissa<Bits>,
                              unit,
                              unit + 1,
                              2 * unit - 1,
                              2 * unit,
                              one - 1,
                              one,
                              one + 1,
                              one + unit / 2,
                              one + unit,
                              one + 3 * (unit / 2),
                              one - unit,
                              one - kMantissaBits<Bits> * unit,
                              one - (kMantissaBits<Bits> + 1) * unit,
                              one + kMantissaBits<Bits> * unit,
                              one + (kMantissaBits<Bits> + 1) * unit + 3,
                              kInfinity<Bits> - 1,
                              kInfinity<Bits> - unit,
                              kInfinity<Bits> / 2,
                              kInfinity<Bits>,
                              kInfinity<Bits> + 1,
                              kCanonicalNan<Bits>,
                              kCanonicalNan<Bits> + 5};
  for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(values[i] | kSign<Bits>);
  return values;
}

/// Random numbers, many with nearly equal exponents, so that alignment and cancellation are exercised.
template <FloatBits Bits>
class RandomOperands {
 public:
  Bits next() {
    const Bits raw = static_cast<Bits>(random_());
    switch (random_() % 4) {
      case 0:
        return raw;
      case 1:
        return (raw & ~kInfinity<Bits>) | (middle() & kInfinity<Bits>);
      case 2:
        return (raw & (kSign<Bits> | kMantissa<Bits> >> 20 << 20)) | (middle() & kInfinity<Bits>);
      default:
        return raw & (kSign<Bits> | kMantissa<Bits> |
                      Bits{7} << kMantissaBits<Bits>);  // exponent field 0 to 7: subnormal, or small normal
    }
  }

 private:
  Bits middle() {
    const Bits exponent = (Bits{1} << (kExponentBits<Bits> - 1)) + static_cast<Bits>(random_() % 64) - 32;
    return exponent << kMantissaBits<Bits>;
  }
  std::mt19937_64 random_{20240607};
};

template <class T>
class FloatFormat : public testing::Test {};
using Formats = testing::Types<Single, Double>;
TYPED_TEST_SUITE(FloatFormat, Formats);

template <FloatBits Bits>
void expect_same(const char* what, Rounding mode, Bits a, Bits b, Bits c, Bits host, std::uint64_t host_flags, Bits own,
                 std::uint64_t own_flags) {
  ASSERT_TRUE(host == own && host_flags == own_flags)
      << what << " mode " << static_cast<int>(mode) << std::hex << " of " << a << ' ' << b << ' ' << c << ": host " << host
      << " flags " << host_flags << ", integer " << own << " flags " << own_flags;
}

template <FloatBits Bits>
void compare_all(Bits a, Bits b, Bits c) {
  for (const Rounding mode : kHostModes) {
    std::uint64_t host = 0, own = 0;
    Bits x = add(a, b, mode, host), y = soft::add(a, b, mode, own);
    expect_same("add", mode, a, b, c, x, host, y, own);
    host = own = 0;
    x = subtract(a, b, mode, host), y = soft::add<Bits>(a, b ^ kSign<Bits>, mode, own);
    expect_same("subtract", mode, a, b, c, x, host, y, own);
    host = own = 0;
    x = multiply(a, b, mode, host), y = soft::multiply(a, b, mode, own);
    expect_same("multiply", mode, a, b, c, x, host, y, own);
    host = own = 0;
    x = divide(a, b, mode, host), y = soft::divide(a, b, mode, own);
    expect_same("divide", mode, a, b, c, x, host, y, own);
    host = own = 0;
    x = square_root(a, mode, host), y = soft::square_root(a, mode, own);
    expect_same("square root", mode, a, b, c, x, host, y, own);
    host = own = 0;
    x = multiply_add(a, b, c, mode, host), y = soft::multiply_add(a, b, c, mode, own);
    expect_same("multiply-add", mode, a, b, c, x, host, y, own);
  }
}

TYPED_TEST(FloatFormat, IntegerImplementationEqualsTheHostsUnitOnEdges) {
  const auto values = edges<TypeParam>();
  const TypeParam addends[] = {
      0, kSign<TypeParam>, values[10], kMantissa<TypeParam>, kInfinity<TypeParam>, kCanonicalNan<TypeParam>};
  for (const TypeParam a : values) {
    for (const TypeParam b : values) {
      for (const TypeParam c : addends) {
        compare_all<TypeParam>(a, b, c);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(FloatFormat, IntegerImplementationEqualsTheHostsUnitOnRandomOperands) {
  RandomOperands<TypeParam> random;
  for (int i = 0; i < 60'000; ++i) {
    compare_all<TypeParam>(random.next(), random.next(), random.next());
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// The expected result is the exact product, rounded to nearest with ties away from zero by comparing both neighbours.
TEST(FloatRounding, NearestMaxMagnitudeAgainstExactProducts) {
  RandomOperands<Single> random;
  for (int i = 0; i < 200'000; ++i) {
    const Single a = random.next(), b = random.next();
    // The product of two singles is exact in double precision.
    const double exact = static_cast<double>(std::bit_cast<float>(a)) * static_cast<double>(std::bit_cast<float>(b));
    std::uint64_t flags = 0, ignored = 0;
    const Single got = multiply(a, b, Rounding::nearest_max_magnitude, flags);
    if (is_nan(got)) continue;
    const Single down = multiply(a, b, Rounding::to_zero, ignored);
    const auto magnitude = [](double v) { return v < 0 ? -v : v; };
    const double low = magnitude(std::bit_cast<float>(down)), high = magnitude(std::bit_cast<float>(down + 1));
    const double value = magnitude(exact);
    if ((down & ~kSign<Single>) >= kInfinity<Single> - 1) continue;
    const Single expected = value != low && value - low >= high - value ? down + 1 : down;
    ASSERT_EQ(got, expected) << std::hex << a << " * " << b;
    ASSERT_EQ((flags & kInexact) != 0, value != low);
  }
}

struct ArithmeticCase {
  char operation;
  Double a, b;
  std::array<Double, 5> result;  // RNE, RTZ, RDN, RUP, RMM
  std::uint64_t flags;
};

// Operands of kCases, and their expected results, which are derived by hand from IEEE 754-2008.
constexpr Double kOne = 0x3ff0000000000000, kMinusOneDouble = 0xbff0000000000000, kTwo = 0x4000000000000000,
                 kThree = 0x4008000000000000, kHalf = 0x3fe0000000000000, kLargest = 0x7fefffffffffffff,
                 kInf = 0x7ff0000000000000, kMinusInf = 0xfff0000000000000, kMinusZero = 0x8000000000000000,
                 kNan = 0x7ff8000000000000, kSmallestNormal = 0x0010000000000000, kUlp = 0x3cb0000000000000 /* 2^-52 */,
                 kHalfUlp = 0x3ca0000000000000 /* 2^-53 */, kSignallingNan = 0x7ff0000000000001;

constexpr ArithmeticCase kCases[] = {
    {'+', kOne, kHalfUlp, {kOne, kOne, kOne, kOne + 1, kOne + 1}, kInexact},
    {'+', kOne + 1, kHalfUlp, {kOne + 2, kOne + 1, kOne + 1, kOne + 2, kOne + 2}, kInexact},
    {'-',
     kMinusOneDouble,
     kHalfUlp,
     {kMinusOneDouble, kMinusOneDouble, kMinusOneDouble + 1, kMinusOneDouble, kMinusOneDouble + 1},
     kInexact},
    {'+', kOne, kUlp, {kOne + 1, kOne + 1, kOne + 1, kOne + 1, kOne + 1}, 0},
    {'+', kOne, kMinusOneDouble, {0, 0, kMinusZero, 0, 0}, 0},
    {'-', 0, 0, {0, 0, kMinusZero, 0, 0}, 0},
    {'+', kMinusZero, kMinusZero, {kMinusZero, kMinusZero, kMinusZero, kMinusZero, kMinusZero}, 0},
    {'+', kLargest, kLargest, {kInf, kLargest, kLargest, kInf, kInf}, kOverflow | kInexact},
    {'-',
     kLargest | kMinusZero,
     kLargest,
     {kMinusInf, kLargest | kMinusZero, kMinusInf, kLargest | kMinusZero, kMinusInf},
     kOverflow | kInexact},
    {'-', kInf, kInf, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'+', kNan + 7, kOne, {kNan, kNan, kNan, kNan, kNan}, 0},
    {'+', kOne, kSignallingNan, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'*', 1, kHalf, {0, 0, 0, 1, 1}, kUnderflow | kInexact},
    {'*', 1 | kMinusZero, kHalf, {kMinusZero, kMinusZero, 1 | kMinusZero, kMinusZero, 1 | kMinusZero}, kUnderflow | kInexact},
    {'*', 3, kHalf, {2, 1, 1, 2, 2}, kUnderflow | kInexact},
    {'*',
     kSmallestNormal,
     kHalf,
     {0x0008000000000000, 0x0008000000000000, 0x0008000000000000, 0x0008000000000000, 0x0008000000000000},
     0},
    {'*', kInf, 0, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'*', kInf, kMinusOneDouble, {kMinusInf, kMinusInf, kMinusInf, kMinusInf, kMinusInf}, 0},
    {'/',
     kOne,
     kThree,
     {0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555556, 0x3fd5555555555555},
     kInexact},
    {'/',
     kTwo,
     kThree,
     {0x3fe5555555555555, 0x3fe5555555555555, 0x3fe5555555555555, 0x3fe5555555555556, 0x3fe5555555555555},
     kInexact},
    {'/', kOne, 0, {kInf, kInf, kInf, kInf, kInf}, kDivideByZero},
    {'/', kOne, kMinusZero, {kMinusInf, kMinusInf, kMinusInf, kMinusInf, kMinusInf}, kDivideByZero},
    {'/', 0, 0, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'/', kInf, kInf, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'/', kOne, kInf, {0, 0, 0, 0, 0}, 0},
    {'r',
     kTwo,
     0,
     {0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcc, 0x3ff6a09e667f3bcc, 0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcd},
     kInexact},
    {'r', kMinusZero, 0, {kMinusZero, kMinusZero, kMinusZero, kMinusZero, kMinusZero}, 0},
    {'r', kMinusOneDouble, 0, {kNan, kNan, kNan, kNan, kNan}, kInvalid},
    {'r', kInf, 0, {kInf, kInf, kInf, kInf, kInf}, 0},
};

TEST(FloatArithmetic, EdgeCases) {
  for (const ArithmeticCase& c : kCases) {
    for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
      std::uint64_t flags = 0;
      Double result = 0;
      switch (c.operation) {
        case '+':
          result = add(c.a, c.b, kModes[mode], flags);
          break;
        case '-':
          result = subtract(c.a, c.b, kModes[mode], flags);
          break;
        case '*':
          result = multiply(c.a, c.b, kModes[mode], flags);
          break;
        case '/':
          result = divide(c.a, c.b, kModes[mode], flags);
          break;
        default:
          result = square_root(c.a, kModes[mode], flags);
          break;
      }
      EXPECT_EQ(result, c.result[mode]) << std::hex << c.a << ' ' << c.operation << ' ' << c.b << " mode " << mode;
      EXPECT_EQ(flags, c.flags) << std::hex << c.a << ' ' << c.operation << ' ' << c.b << " mode " << mode;
    }
  }
}

TEST(FloatArithmetic, TininessIsDetectedAfterRounding) {
  // (1 - 2^-53) * 2^-1022 has 53 significant bits: rounded with an unbounded exponent it stays below 2^-1022, so it is tiny.
  const Double almost_one = 0x3fefffffffffffff;
  std::uint64_t flags = 0;
  EXPECT_EQ(multiply(almost_one, kSmallestNormal, Rounding::nearest_even, flags), kSmallestNormal);
  EXPECT_EQ(flags, kInexact | kUnderflow);
  // (1 + 2^-52) * (1 - 2^-52) * 2^-1022 = (1 - 2^-104) * 2^-1022 rounds to 2^-1022 even with an unbounded exponent: not tiny.
  // Rounded towards zero, it is tiny.
  const Double slightly_more = 0x3ff0000000000001, slightly_less = 0x000fffffffffffff;
  flags = 0;
  EXPECT_EQ(multiply(slightly_more, slightly_less, Rounding::nearest_even, flags), kSmallestNormal);
  EXPECT_EQ(flags, kInexact);
  flags = 0;
  EXPECT_EQ(multiply(slightly_more, slightly_less, Rounding::to_zero, flags), slightly_less);
  EXPECT_EQ(flags, kInexact | kUnderflow);
}

TEST(FloatArithmetic, FusedMultiplyAddRoundsOnce) {
  std::uint64_t flags = 0;
  // (1 + 2^-52)^2 - (1 + 2^-51) = 2^-104.
  EXPECT_EQ(multiply_add(kOne + 1, kOne + 1, (kOne + 2) | kMinusZero, Rounding::nearest_even, flags), 0x3970000000000000u);
  EXPECT_EQ(flags, 0u);
  // Infinity times zero is invalid even with a quiet NaN as addend.
  for (const Rounding mode : kModes) {
    flags = 0;
    EXPECT_EQ(multiply_add<Double>(kInf, 0, kNan, mode, flags), kNan);
    EXPECT_EQ(flags, kInvalid);
  }
}

TEST(FloatCompare, NansAndZeros) {
  std::uint64_t flags = 0;
  EXPECT_TRUE(equal<Double>(0, kMinusZero, flags));
  EXPECT_FALSE(less<Double>(kMinusZero, 0, flags));
  EXPECT_TRUE(less_or_equal<Double>(0, kMinusZero, flags));
  EXPECT_TRUE(less<Double>(kMinusOneDouble, kOne, flags));
  EXPECT_TRUE(less<Double>(kMinusInf, kMinusOneDouble, flags));
  EXPECT_FALSE(equal<Double>(kNan, kNan, flags));
  EXPECT_EQ(flags, 0u);
  EXPECT_FALSE(equal<Double>(kSignallingNan, kOne, flags));
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_FALSE(less<Double>(kNan, kOne, flags));
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_FALSE(less_or_equal<Double>(kOne, kNan, flags));
  EXPECT_EQ(flags, kInvalid);
}

TEST(FloatCompare, MinimumAndMaximum) {
  std::uint64_t flags = 0;
  EXPECT_EQ(minimum<Double>(0, kMinusZero, flags), kMinusZero);
  EXPECT_EQ(minimum<Double>(kMinusZero, 0, flags), kMinusZero);
  EXPECT_EQ(maximum<Double>(0, kMinusZero, flags), 0u);
  EXPECT_EQ(minimum<Double>(kNan + 1, kOne, flags), kOne);
  EXPECT_EQ(maximum<Double>(kOne, kNan + 1, flags), kOne);
  EXPECT_EQ(minimum<Double>(kNan + 1, kNan + 2, flags), kNan);
  EXPECT_EQ(minimum<Double>(kMinusOneDouble, kOne, flags), kMinusOneDouble);
  EXPECT_EQ(maximum<Double>(kMinusOneDouble, kMinusInf, flags), kMinusOneDouble);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(minimum<Double>(kSignallingNan, kOne, flags), kOne);
  EXPECT_EQ(flags, kInvalid);
}

TEST(FloatClassify, EachClass) {
  const std::pair<Single, unsigned> cases[] = {{0xff800000, 0}, {0xbf800000, 1}, {0x80000001, 2}, {0x80000000, 3},
                                               {0x00000000, 4}, {0x007fffff, 5}, {0x00800000, 6}, {0x7f800000, 7},
                                               {0x7f800001, 8}, {0x7fc00000, 9}};
  for (const auto& [bits, bit] : cases) EXPECT_EQ(classify(bits), 1u << bit) << std::hex << bits;
}

struct ConversionCase {
  Double a;
  std::array<std::int64_t, 5> result;  // results in the order RNE, RTZ, RDN, RUP, RMM
  std::uint64_t flags;
};

TEST(FloatConvert, ToSignedWord) {
  const ConversionCase cases[] = {
      {0x4004000000000000, {2, 2, 2, 3, 3}, kInexact},       // 2.5
      {0xc004000000000000, {-2, -2, -3, -2, -3}, kInexact},  // -2.5
      {0x3fdfffffffffffff, {0, 0, 0, 1, 0}, kInexact},       // just below 0.5
      {0x3fe0000000000000, {0, 0, 0, 1, 1}, kInexact},       // 0.5
      {0xbfe8000000000000, {-1, 0, -1, 0, -1}, kInexact},    // -0.75
      {0x0000000000000001, {0, 0, 0, 1, 0}, kInexact},       // smallest subnormal
      {0x41dfffffffc00000, {2147483647, 2147483647, 2147483647, 2147483647, 2147483647}, 0},
      {0xc1e0000000000000, {-2147483648, -2147483648, -2147483648, -2147483648, -2147483648}, 0},
      {0x41e0000000000000, {2147483647, 2147483647, 2147483647, 2147483647, 2147483647}, kInvalid},
      {0xc1e0000000200000, {-2147483648, -2147483648, -2147483648, -2147483648, -2147483648}, kInvalid},
      {kInf, {2147483647, 2147483647, 2147483647, 2147483647, 2147483647}, kInvalid},
      {kMinusInf, {-2147483648, -2147483648, -2147483648, -2147483648, -2147483648}, kInvalid},
      {kNan | kMinusZero, {2147483647, 2147483647, 2147483647, 2147483647, 2147483647}, kInvalid},
  };
  for (const ConversionCase& c : cases) {
    for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
      std::uint64_t flags = 0;
      EXPECT_EQ((to_integer<std::int32_t, Double>(c.a, kModes[mode], flags)), c.result[mode])
          << std::hex << c.a << " mode " << mode;
      EXPECT_EQ(flags, c.flags) << std::hex << c.a << " mode " << mode;
    }
  }
  // 2147483647.5 is in range only if it is not rounded up.
  std::uint64_t flags = 0;
  EXPECT_EQ((to_integer<std::int32_t, Double>(0x41dfffffffe00000, Rounding::to_zero, flags)), 2147483647);
  EXPECT_EQ(flags, kInexact);
  flags = 0;
  EXPECT_EQ((to_integer<std::int32_t, Double>(0x41dfffffffe00000, Rounding::nearest_even, flags)), 2147483647);
  EXPECT_EQ(flags, kInvalid);
}

TEST(FloatConvert, ToUnsignedAndDoubleword) {
  std::uint64_t flags = 0;
  EXPECT_EQ((to_integer<std::uint32_t, Double>(0xbfe0000000000000, Rounding::to_zero, flags)), 0u);  // -0.5
  EXPECT_EQ(flags, kInexact);
  flags = 0;
  EXPECT_EQ((to_integer<std::uint32_t, Double>(kMinusOneDouble, Rounding::to_zero, flags)), 0u);
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_EQ((to_integer<std::uint64_t, Double>(0x43effffffffffff8, Rounding::nearest_even, flags)), 0xffffffffffffc000u);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ((to_integer<std::uint64_t, Double>(0x43f0000000000000, Rounding::nearest_even, flags)), ~std::uint64_t{0});
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_EQ((to_integer<std::int64_t, Double>(0xc3e0000000000000, Rounding::nearest_even, flags)), INT64_MIN);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ((to_integer<std::int64_t, Double>(0x43e0000000000000, Rounding::nearest_even, flags)), INT64_MAX);
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_EQ((to_integer<std::uint64_t, Single>(0x5f7fffff, Rounding::nearest_even, flags)), 0xffffff0000000000u);
  EXPECT_EQ(flags, 0u);
}

TEST(FloatConvert, FromInteger) {
  std::uint64_t flags = 0;
  EXPECT_EQ((from_integer<Double, std::int32_t>(-1, Rounding::nearest_even, flags)), kMinusOneDouble);
  EXPECT_EQ((from_integer<Double, std::uint32_t>(0xffffffff, Rounding::nearest_even, flags)), 0x41efffffffe00000u);
  EXPECT_EQ((from_integer<Double, std::int64_t>(INT64_MIN, Rounding::nearest_even, flags)), 0xc3e0000000000000u);
  EXPECT_EQ((from_integer<Single, std::int32_t>(0, Rounding::down, flags)), 0u);
  EXPECT_EQ(flags, 0u);
  // 2^24 + 1 lies midway between two singles.
  const std::array<Single, 5> results = {0x4b800000, 0x4b800000, 0x4b800000, 0x4b800001, 0x4b800001};
  for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
    flags = 0;
    EXPECT_EQ((from_integer<Single, std::int32_t>(0x1000001, kModes[mode], flags)), results[mode]) << mode;
    EXPECT_EQ(flags, kInexact);
  }
  EXPECT_EQ((from_integer<Double, std::uint64_t>(~std::uint64_t{0}, Rounding::nearest_even, flags)), 0x43f0000000000000u);
  EXPECT_EQ((from_integer<Double, std::uint64_t>(~std::uint64_t{0}, Rounding::to_zero, flags)), 0x43efffffffffffffu);
}

TEST(FloatConvert, BetweenFormats) {
  std::uint64_t flags = 0;
  EXPECT_EQ(widen(0x3f800000, flags), kOne);
  EXPECT_EQ(widen(0x00000001, flags), 0x36a0000000000000u);  // 2^-149
  EXPECT_EQ(widen(0xff800000, flags), kMinusInf);
  EXPECT_EQ(widen(0xffc12345, flags), kNan);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(widen(0x7f800001, flags), kNan);
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_EQ(narrow(0x36a0000000000000, Rounding::nearest_even, flags), 1u);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(narrow(0x3690000000000000, Rounding::nearest_even, flags), 0u);  // half of the smallest subnormal
  EXPECT_EQ(flags, kInexact | kUnderflow);
  EXPECT_EQ(narrow(0x3690000000000000, Rounding::nearest_max_magnitude, flags), 1u);
  flags = 0;
  EXPECT_EQ(narrow(kLargest, Rounding::nearest_even, flags), 0x7f800000u);
  EXPECT_EQ(flags, kOverflow | kInexact);
  EXPECT_EQ(narrow(kLargest, Rounding::to_zero, flags), 0x7f7fffffu);
}

TEST(FloatConvert, AgainstTheHostsConversions) {
  RandomOperands<Double> doubles;
  for (int i = 0; i < 200'000; ++i) {
    const Double a = doubles.next();
    std::uint64_t flags = 0;
    if (!is_nan(a)) {
      ASSERT_EQ(narrow(a, Rounding::nearest_even, flags), std::bit_cast<Single>(static_cast<float>(std::bit_cast<double>(a))));
    }
    const auto integer = static_cast<std::int64_t>(a);
    ASSERT_EQ((from_integer<Double, std::int64_t>(integer, Rounding::nearest_even, flags)),
              std::bit_cast<Double>(static_cast<double>(integer)));
    ASSERT_EQ((from_integer<Single, std::uint64_t>(a, Rounding::nearest_even, flags)),
              std::bit_cast<Single>(static_cast<float>(a)));
  }
}

}  // namespace
}  // namespace lacuna::rv64
