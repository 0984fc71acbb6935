// Results of floating-point atomics, computed in a wider type: the sum of two numbers is as if rounded only once, to their own
// precision, because the wider type has more than twice the significand bits.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace lacuna::isa::test {

/// Whether denormal operands and results keep their value (else they become zeros with their sign).
struct DenormalRules {
  bool operands = true;
  bool results = true;
};

template <typename F>
F flushed(F value, bool keep) {
  return keep || std::fpclassify(value) != FP_SUBNORMAL ? value : std::copysign(F{0}, value);
}

inline double widened(float value) { return value; }
inline __float128 widened(double value) { return value; }

template <typename F>
F expected_sum(F memory, F data, DenormalRules rules) {
  const F a = flushed(memory, rules.operands);
  const F b = flushed(data, rules.operands);
  return flushed(static_cast<F>(widened(a) + widened(b)), rules.results);
}

/// Random finite values, and edge values including infinity, but no NaN. Consecutive random values often have similar
/// exponents.
template <typename F>
class FloatSource {
 public:
  explicit FloatSource(std::uint32_t seed) : engine_(seed) {}
  F next() {
    using Limits = std::numeric_limits<F>;
    const std::array<F, 12> edges{0,
                                  -F{0},
                                  1,
                                  -1,
                                  Limits::denorm_min(),
                                  -Limits::denorm_min(),
                                  Limits::min(),
                                  -Limits::min(),
                                  Limits::max(),
                                  -Limits::max(),
                                  Limits::infinity(),
                                  Limits::min() - Limits::denorm_min()};
    const auto pick = engine_() % 3;
    if (pick == 0) return edges[engine_() % edges.size()];
    const auto fraction = static_cast<F>(static_cast<std::int64_t>(engine_() >> 8) - (std::int64_t{1} << 55));
    const int exponents = pick == 1 ? Limits::min_exponent - 60 : -50;
    return std::ldexp(fraction, exponents + static_cast<int>(engine_() % 8));
  }

 private:
  std::mt19937_64 engine_;
};

template <typename F>
using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

}  // namespace lacuna::isa::test
