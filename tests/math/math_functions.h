// The functions of the device library, with their reference functions and error bounds.
#pragma once

#include <mpfr.h>

#include <span>

namespace lacuna::math {

/// Exact operands of a reference function; `n` is the integer operand, if the function has one.
struct Operands {
  mpfr_srcptr a, b, c;
  long n;
};

using Reference = void (*)(mpfr_ptr result, const Operands& operands);

/// Error bounds in units in the last place.
inline constexpr double kCorrectlyRounded = 0;
inline constexpr double kNotThere = -1;  ///< the function does not exist for this type

struct MathFunction {
  const char* name;
  const char* expression;  ///< OpenCL C expression of a, b, c and the integer n
  unsigned operands;       ///< number of operands among a, b, c
  Reference reference;
  double float_bound;
  double double_bound;
  double low, high;                ///< range of half of a's values; other values are edge cases and random bits
  double second_low, second_high;  ///< range of half of b's values
  /// All values of a are from `low` to `high`, as the function is not specified elsewhere.
  bool only_range = false;
  /// The sign of a zero result is not checked: the library returns the wrong sign for some arguments, although every
  /// instruction is executed correctly.
  bool any_zero = false;
};

[[nodiscard]] std::span<const MathFunction> math_functions();

}  // namespace lacuna::math
