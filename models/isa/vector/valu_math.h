// Reciprocals, roots, exponential, logarithm, sine and cosine of f32 and f16, computed in double arithmetic: the same bits on
// every host.
//
// The hardware's results are within 1 ULP (f32; GCN3 ISA manual, VOP1) and not documented to the bit. Results here have a
// relative error of at most 2^-31 before the one rounding to the format, so they are within 0.51 ULP. The code uses Taylor
// series, whose coefficients need no explanation; the arguments are reduced enough for a dozen terms.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "models/isa/vector/valu_types.h"

namespace lacuna::isa::math {

inline constexpr double kLn2 = 0.693147180559945309417;
inline constexpr double kPi = 3.14159265358979323846;

/// Taylor coefficients of exp(base * x): base^i / i! for i < kCount.
template <unsigned kCount>
constexpr std::array<double, kCount> exponential_series(double base) {
  std::array<double, kCount> series{};
  double term = 1;
  for (unsigned i = 0; i < kCount; ++i) {
    series[i] = term;
    term = term * base / (i + 1);
  }
  return series;
}

/// Evaluates a polynomial by pairs of terms, pairs of pairs and so on (Estrin's scheme): less than half of the latency of one
/// chain.
template <std::size_t kCount>
constexpr double polynomial(const std::array<double, kCount>& coefficients, double x) {
  if constexpr (kCount == 1) {
    return coefficients[0];
  } else {
    return [&]<std::size_t... kPair>(std::index_sequence<kPair...>) {
      if constexpr (kCount % 2 == 0) {
        return polynomial(std::array{coefficients[2 * kPair] + coefficients[2 * kPair + 1] * x...}, x * x);
      } else {
        return polynomial(std::array{coefficients[2 * kPair] + coefficients[2 * kPair + 1] * x..., coefficients[kCount - 1]},
                          x * x);
      }
    }
    (std::make_index_sequence<kCount / 2>{});
  }
}

/// Nearest integer (ties do not matter here) of |x| < 2^31, in any rounding mode of the host; vectorises without SSE4.1.
inline double nearest(double x) { return static_cast<double>(static_cast<std::int32_t>(x + (x < 0 ? -0.5 : 0.5))); }

inline double power_of_two(std::int32_t exponent) {  // -1022 <= exponent <= 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// All ones if the condition holds. Special results are blended in bitwise: a conditional expression would become a branch
// around the whole computation, and the loop over lanes would not vectorise.
inline std::uint64_t ones_if(bool condition) { return 0 - std::uint64_t{condition}; }
inline double blend(double otherwise, bool condition, double value) {
  const std::uint64_t chosen = ones_if(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(otherwise) & ~chosen) |
                               (std::bit_cast<std::uint64_t>(value) & chosen));
}

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// 2^x. Saturates far outside the range of f32 and f16.
inline double exp2(double x) {
  static constexpr auto kSeries = exponential_series<13>(kLn2);
  const double above = x > -300 ? x : -300;  // also clips NaN
  const double clipped = above < 300 ? above : 300;
  const double whole = nearest(clipped);
  const double result = polynomial(kSeries, clipped - whole) * power_of_two(static_cast<std::int32_t>(whole));
  // Infinity is substituted explicitly: a finite value beyond the format's range would become the largest number if MODE rounds
  // towards zero.
  const double ends = blend(blend(result, x == -kInfinity, 0), x == kInfinity, kInfinity);
  return blend(ends, __builtin_isnan(x), kNan);
}

/// log2 of a double that was converted from f32 or f16: never a double denormal.
inline double log2(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log2(m) = 2 / ln 2 * (s + s^3/3 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
  static constexpr std::array<double, 10> kSeries = [] {
    std::array<double, 10> series{};
    for (unsigned i = 0; i < series.size(); ++i) series[i] = 2 / kLn2 / (2 * i + 1);
    return series;
  }();
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t from_sqrt_half = bits - kSqrtHalf;
  const std::int32_t exponent = static_cast<std::int32_t>(from_sqrt_half >> 32) >> 20;
  const double m = std::bit_cast<double>((from_sqrt_half & 0x000fffffffffffffULL) + kSqrtHalf);
  const double s = (m - 1) / (m + 1);
  const double whole = static_cast<double>(exponent);
  double result = blend(whole + s * polynomial(kSeries, s * s), m == 1, whole);
  result = blend(result, x == kInfinity, kInfinity);
  result = blend(result, x == 0, -kInfinity);
  return blend(result, !(x >= 0), kNan);
}

namespace detail {
// sin(2 pi x) for |x| <= 1/4, odd terms; relative error below 2^-36.
inline double sine_of_turns(double x) {
  static constexpr auto kAll = exponential_series<20>(2 * kPi);
  static constexpr std::array<double, 10> kOdd = [] {
    std::array<double, 10> odd{};
    for (unsigned i = 0; i < odd.size(); ++i) odd[i] = (i % 2 == 0 ? 1 : -1) * kAll[2 * i + 1];
    return odd;
  }();
  return x * polynomial(kOdd, x * x);
}
}  // namespace detail

/// sin(2 pi x), x in turns. The hardware's domain is [-256, 256]: 0 outside (GCN3 ISA manual, V_SIN_F32); NaN for infinities.
inline double sine(double x) {
  const double magnitude = std::fabs(x);
  const double inside = blend(0, magnitude <= 256, x);
  const double turn = inside - nearest(inside);  // exact, in [-1/2, 1/2]
  const double size = std::fabs(turn);
  const double folded = std::copysign(size > 0.25 ? 0.5 - size : size, turn);
  const double result = blend(detail::sine_of_turns(folded), folded == 0, blend(0, x == 0, x));
  return blend(result, !(magnitude < kInfinity), kNan);
}

/// cos(2 pi x); 1 outside the domain.
inline double cosine(double x) {
  const double magnitude = std::fabs(x);
  const double inside = blend(0, magnitude <= 256, magnitude);
  const double turn = std::fabs(inside - nearest(inside));  // cos is even
  const double result = blend(detail::sine_of_turns(0.25 - turn), turn == 0.25, 0);
  return blend(result, !(magnitude < kInfinity), kNan);
}

inline double reciprocal(double x) { return 1 / x; }
inline double square_root(double x) { return __builtin_sqrt(x); }
inline double reciprocal_square_root(double x) { return 1 / __builtin_sqrt(x); }

/// x * 2^exponent with one rounding, in the format in which the result is stored (f32 and f16 sources).
inline double scale(double x, std::int32_t exponent) {
  const std::int32_t clipped = exponent > 300 ? 300 : exponent < -300 ? -300 : exponent;
  return x * power_of_two(clipped);
}

/// As scale(), for f64: exact steps come first, so that only the last step rounds.
inline double scale_f64(double x, std::int32_t exponent) {
  const double magnitude = std::fabs(x);
  if (!(magnitude > 0) || magnitude == std::numeric_limits<double>::infinity()) return x + x;  // quiets NaNs, keeps -0
  std::int32_t left = exponent > 2200 ? 2200 : exponent < -2200 ? -2200 : exponent;
  if (left > 0) {
    // Away from denormals: every step is exact until it overflows.
    for (; left > 1000; left -= 1000) x *= 0x1p1000;
    return x * power_of_two(left);
  }
  // Normalise the significand, then scale down exactly while the result is normal; below 2^-1076 all results are the same.
  auto bits = std::bit_cast<std::uint64_t>(magnitude);
  if ((bits >> 52) == 0) {
    x *= 0x1p54;
    left -= 54;
    bits = std::bit_cast<std::uint64_t>(std::fabs(x));
  }
  const auto at = static_cast<std::int32_t>(bits >> 52) - 1023;  // |x| = 1.f * 2^at
  if (at + left >= -1022) {
    for (; left < -1000; left += 1000) x *= 0x1p-1000;
    return x * power_of_two(left);
  }
  const double significand =
      std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) & 0x800fffffffffffffULL) | 0x3ff0000000000000ULL);
  const std::int32_t target = at + left < -1080 ? -1080 : at + left;
  return significand * power_of_two(target + 100) * 0x1p-100;
}

}  // namespace lacuna::isa::math
