// Random numbers that are identical on every machine, unlike those of the standard library's distributions.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// A number in (0, 1], a multiple of 2^-53.
  double share() { return static_cast<double>((engine_() >> 11) + 1) * 0x1p-53; }
  /// A number from 0 to n - 1; n must be at least 1. Probabilities differ by at most n / 2^64.
  Index below(Index n) {
    const std::uint64_t drawn = engine_();
    return static_cast<Index>(((drawn >> 32) * n + ((drawn & 0xffffffff) * n >> 32)) >> 32);
  }
  /// The numbers 0 to n - 1 in random order.
  std::vector<Index> order(Index n) {
    std::vector<Index> numbers(n);
    std::iota(numbers.begin(), numbers.end(), Index{0});
    for (Index i = n; i > 1; --i) std::swap(numbers[i - 1], numbers[below(i)]);
    return numbers;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace lacuna::sida
