// The distance of a result from the exact value.
#pragma once

#include <mpfr.h>

namespace lacuna::math {

/// In units in the last place of T at the exact value, as defined in OpenCL C 3.0, section 7.4. Overflow counts as the power of
/// two after the largest number. Infinite if only one of the values is a NaN, an infinity or a zero of that sign.
template <typename T>
[[nodiscard]] double ulp_error(T got, mpfr_srcptr exact);

/// Zero if `got` is the exact value rounded to nearest, otherwise the error.
template <typename T>
[[nodiscard]] double rounding_error(T got, mpfr_srcptr exact);

}  // namespace lacuna::math
