// Operands for the tests of the device library's functions.
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

/// Returns `count` values for each operand: all pairs of edge cases, then values in the function's range, then random bits.
template <typename T>
[[nodiscard]] Samples<T> samples_of(const MathFunction& function, unsigned count, std::uint64_t seed);

}  // namespace lacuna::math
