#include "samples.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace lacuna::math {
namespace {

using programs::Random;

template <typename T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result;
  for (const T x : {T(0),
                    T(1),
                    T(0.5),
                    T(2),
                    T(3),
                    T(1.5),
                    T(0.1),
                    T(10),
                    T(64),
                    T(1000.5),
                    T(1e30),
                    Limits::min(),
                    Limits::denorm_min(),
                    Limits::min() - Limits::denorm_min(),
                    Limits::max(),
                    Limits::infinity(),
                    Limits::epsilon(),
                    T(1) + Limits::epsilon(),
                    T(1) - Limits::epsilon() / 2,
                    T(1) / Limits::epsilon(),
                    T(3.14159265358979323846),
                    T(1.57079632679489661923),
                    T(0.78539816339744830962),
                    T(2.71828182845904523536),
                    T(0.70710678118654752440)}) {
    result.push_back(x);
    result.push_back(-x);
  }
  result.push_back(Limits::quiet_NaN());
  return result;
}

template <typename T>
T any_bits(Random& random) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(static_cast<Bits>(random.bits() >> (64 - 8 * sizeof(T))));
}

template <typename T>
T in_range(Random& random, double low, double high) {
  return static_cast<T>(low + (high - low) * (static_cast<double>(random.bits() >> 11U) * 0x1p-53));
}

/// A value from a range. A sixth of the values are scaled towards zero, as uniformly distributed values are hardly ever near
/// zero.
template <typename T>
T one_of_range(Random& random, double low, double high) {
  T value = in_range<T>(random, low, high);
  if (random.below(6) == 0) value = std::ldexp(value, -static_cast<int>(random.below(30)));
  return value < T(low) || value > T(high) ? in_range<T>(random, low, high) : value;
}

}  // namespace

template <typename T>
Samples<T> samples_of(const MathFunction& function, unsigned count, std::uint64_t seed) {
  static constexpr std::array<std::int32_t, 16> kIntegers{0, 1, -1, 2, -2, 3, -3, 5, 7, -8, 10, 31, -126, 127, 300, -1022};
  Random random(seed);
  const std::vector<T> edge = edges<T>();
  Samples<T> result;
  for (unsigned i = 0; i < count; ++i) {
    const bool ranged = function.only_range || i % 2 == 0;
    T a = ranged ? one_of_range<T>(random, function.low, function.high) : any_bits<T>(random);
    T b = ranged ? one_of_range<T>(random, function.second_low, function.second_high) : any_bits<T>(random);
    T c = ranged ? one_of_range<T>(random, -1000, 1000) : any_bits<T>(random);
    const std::size_t pairs = function.operands == 1 ? edge.size() : edge.size() * edge.size() / 2;
    if (!function.only_range && i < std::min<std::size_t>(pairs, count / 2)) {
      a = edge[i % edge.size()];
      b = function.operands == 1 ? b : random.pick(edge);
      c = random.percent(50) ? random.pick(edge) : c;
    }
    result.a.push_back(a);
    result.b.push_back(b);
    result.c.push_back(c);
    result.n.push_back(random.percent(30) ? random.pick(kIntegers) : static_cast<std::int32_t>(random.below(41)) - 20);
  }
  return result;
}

template Samples<float> samples_of(const MathFunction&, unsigned, std::uint64_t);
template Samples<double> samples_of(const MathFunction&, unsigned, std::uint64_t);

}  // namespace lacuna::math
