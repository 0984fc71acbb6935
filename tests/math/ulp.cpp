#include "ulp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "real.h"

namespace lacuna::math {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

template <typename T>
T nearest(mpfr_srcptr exact) {
  if constexpr (std::is_same_v<T, float>) {
    return mpfr_get_flt(exact, MPFR_RNDN);
  } else {
    return mpfr_get_d(exact, MPFR_RNDN);
  }
}

}  // namespace

template <typename T>
double ulp_error(T got, mpfr_srcptr exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(got) || mpfr_nan_p(exact)) return std::isnan(got) && mpfr_nan_p(exact) ? 0 : kInfinite;
  if (mpfr_inf_p(exact)) return std::isinf(got) && std::signbit(got) == (mpfr_signbit(exact) != 0) ? 0 : kInfinite;
  if (mpfr_zero_p(exact)) return got == 0 && std::signbit(got) == (mpfr_signbit(exact) != 0) ? 0 : kInfinite;
  Real wanted(std::max<mpfr_prec_t>(mpfr_get_prec(exact), 64));
  Real error(mpfr_get_prec(wanted.get()));
  const auto overflow = [](mpfr_ptr to, bool negative) {
    mpfr_set_si_2exp(to, negative ? -1 : 1, Limits::max_exponent, MPFR_RNDN);
  };
  if (mpfr_get_exp(exact) > Limits::max_exponent) {
    overflow(wanted.get(), mpfr_signbit(exact) != 0);
  } else {
    mpfr_set(wanted.get(), exact, MPFR_RNDN);
  }
  if (std::isinf(got)) {
    overflow(error.get(), std::signbit(got));
  } else {
    mpfr_set_d(error.get(), static_cast<double>(got), MPFR_RNDN);
  }
  mpfr_sub(error.get(), error.get(), wanted.get(), MPFR_RNDN);
  const auto exponent = std::clamp<mpfr_exp_t>(mpfr_get_exp(wanted.get()), Limits::min_exponent, Limits::max_exponent);
  mpfr_mul_2si(error.get(), error.get(), Limits::digits - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
}

template <typename T>
double rounding_error(T got, mpfr_srcptr exact) {
  const T wanted = nearest<T>(exact);
  if (std::isnan(got) && std::isnan(wanted)) return 0;
  if (got == wanted && std::signbit(got) == std::signbit(wanted)) return 0;
  const double error = ulp_error(got, exact);
  return error > 0 ? error : kInfinite;
}

template double ulp_error(float, mpfr_srcptr);
template double ulp_error(double, mpfr_srcptr);
template double rounding_error(float, mpfr_srcptr);
template double rounding_error(double, mpfr_srcptr);

}  // namespace lacuna::math
