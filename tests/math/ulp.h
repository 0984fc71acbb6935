// Error of a result: its distance from the exact value.
#pragma once

#include <mpfr.h>

namespace lacuna::math {

/// Error in units in the last place of T at the exact value, as defined in OpenCL C 3.0, section 7.4. An infinite `got`, and a
/// finite exact value beyond T's range, are treated as the power of two above the largest number. The error is infinite if one
/// value is a NaN and the other is not, or if the exact value is an infinity or a zero and `got` differs from it.
template <typename T>
[[nodiscard]] double ulp_error(T got, mpfr_srcptr exact);

/// 0 if `got` is the exact value rounded to nearest, otherwise ulp_error() or, if that is 0, infinity.
template <typename T>
[[nodiscard]] double rounding_error(T got, mpfr_srcptr exact);

}  // namespace lacuna::math
