// The device library's functions, their required results and error bounds.
#pragma once

#include <mpfr.h>

#include <span>

namespace lacuna::math {

/// Exact operands of a reference function; `n` is the integer operand of functions that have one.
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
  const char* expression;  ///< OpenCL C, of a, b, c and the int n
  unsigned operands;       ///< how many of a, b, c it has
  Reference reference;
  double float_bound;
  double double_bound;
  double low, high;                ///< range of half of a's values; the others are edge cases and random bits of any exponent
  double second_low, second_high;  ///< range of half of b's values
  /// All of a's values are from low to high: the function is not specified elsewhere.
  bool only_range = false;
  /// The library's code returns a zero of the wrong sign for some arguments, although every instruction is correct.
  bool any_zero = false;
};

[[nodiscard]] std::span<const MathFunction> math_functions();

}  // namespace lacuna::math
