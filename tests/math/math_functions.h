// The device library's functions, their required results and error bounds.
#pragma once

#include <mpfr.h>

#include <span>

namespace lacuna::math {

/// Operands of a reference function, exact; `n` is the integer operand of those that have one.
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
  double low, high;                ///< where half of a's values are from; the others are edges and random bits of any exponent
  double second_low, second_high;  ///< likewise of b
  /// a's values are only from low to high: the function is not specified elsewhere.
  bool only_range = false;
  /// The library's code gives a zero of the other sign for some arguments, which no instruction is to blame for.
  bool any_zero = false;
};

[[nodiscard]] std::span<const MathFunction> math_functions();

}  // namespace lacuna::math
