// Operands with which a function is tested.
#pragma once

#include <cstdint>
#include <vector>

#include "math_functions.h"
#include "random.h"

namespace lacuna::math {

template <typename T>
struct Samples {
  std::vector<T> a, b, c;
  std::vector<std::int32_t> n;
};

/// `count` values for each operand: first all pairs of edge cases, then values in the function's range, then arbitrary bits.
template <typename T>
[[nodiscard]] Samples<T> samples_of(const MathFunction& function, unsigned count, std::uint64_t seed);

}  // namespace lacuna::math
