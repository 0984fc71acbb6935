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

/// Returns `count` values for each operand: first edge cases, for at most half of the samples, then alternately values in the
/// function's range and random bits. With MathFunction::only_range, all values are in the range.
template <typename T>
[[nodiscard]] Samples<T> samples_of(const MathFunction& function, unsigned count, std::uint64_t seed);

}  // namespace lacuna::math
