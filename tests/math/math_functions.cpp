#include "math_functions.h"

#include <array>

namespace lacuna::math {
namespace {

constexpr mpfr_rnd_t kNearest = MPFR_RNDN;

template <int (*Function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void of_one(mpfr_ptr r, const Operands& x) {
  Function(r, x.a, kNearest);
}

template <int (*Function)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
void of_two(mpfr_ptr r, const Operands& x) {
  Function(r, x.a, x.b, kNearest);
}

void ref_fma(mpfr_ptr r, const Operands& x) { mpfr_fma(r, x.a, x.b, x.c, kNearest); }
void ref_recip(mpfr_ptr r, const Operands& x) { mpfr_ui_div(r, 1, x.a, kNearest); }
void ref_pown(mpfr_ptr r, const Operands& x) { mpfr_pow_si(r, x.a, x.n, kNearest); }
void ref_rootn(mpfr_ptr r, const Operands& x) { mpfr_rootn_si(r, x.a, x.n, kNearest); }
void ref_ldexp(mpfr_ptr r, const Operands& x) { mpfr_mul_2si(r, x.a, x.n, kNearest); }

/// mpfr_rec_sqrt returns positive infinity for any zero; OpenCL's rsqrt, like 1 / sqrt, returns negative infinity for -0.
void ref_rsqrt(mpfr_ptr r, const Operands& x) {
  if (mpfr_zero_p(x.a)) {
    mpfr_set_inf(r, mpfr_signbit(x.a) ? -1 : 1);
  } else {
    mpfr_rec_sqrt(r, x.a, kNearest);
  }
}

/// OpenCL's powr(1, NaN) is NaN; mpfr_powr returns 1.
void ref_powr(mpfr_ptr r, const Operands& x) {
  if (mpfr_nan_p(x.b)) {
    mpfr_set_nan(r);
  } else {
    mpfr_powr(r, x.a, x.b, kNearest);
  }
}

void ref_lgamma(mpfr_ptr r, const Operands& x) {
  int sign = 0;
  mpfr_lgamma(r, &sign, x.a, kNearest);
}

/// Rounds to the nearest integer, halfway cases away from zero.
void ref_round(mpfr_ptr r, const Operands& x) { mpfr_round(r, x.a); }
void ref_floor(mpfr_ptr r, const Operands& x) { mpfr_floor(r, x.a); }
void ref_ceil(mpfr_ptr r, const Operands& x) { mpfr_ceil(r, x.a); }
void ref_trunc(mpfr_ptr r, const Operands& x) { mpfr_trunc(r, x.a); }

void ref_logb(mpfr_ptr r, const Operands& x) {
  if (mpfr_nan_p(x.a)) {
    mpfr_set_nan(r);
  } else if (mpfr_inf_p(x.a)) {
    mpfr_set_inf(r, 1);
  } else if (mpfr_zero_p(x.a)) {
    mpfr_set_inf(r, -1);
  } else {
    mpfr_set_si(r, mpfr_get_exp(x.a) - 1, kNearest);
  }
}

constexpr double kCorrect = kCorrectlyRounded;

// Bounds: OpenCL C 3.0, section 7.4 "Relative error as ULPs", tables of single and double precision, full profile. The
// specification leaves the bound of lgamma to the implementation; the bound used here is our choice. The bound of tgamma for
// negative floats is our choice as well: the library has errors of a hundred units there (the specification's bound of 16 is
// not tested by its conformance test either). The bound of the half_ functions is 8192 in the same tables; half_sin, half_cos
// and half_tan are specified from -2^16 to 2^16.
constexpr std::array kFunctions{
    MathFunction{"acos", "acos(a)", 1, of_one<mpfr_acos>, 4, 4, -1, 1, 0, 0},
    MathFunction{"acosh", "acosh(a)", 1, of_one<mpfr_acosh>, 4, 4, 1, 100, 0, 0},
    MathFunction{"acospi", "acospi(a)", 1, of_one<mpfr_acospi>, 5, 5, -1, 1, 0, 0},
    MathFunction{"asin", "asin(a)", 1, of_one<mpfr_asin>, 4, 4, -1, 1, 0, 0},
    MathFunction{"asinh", "asinh(a)", 1, of_one<mpfr_asinh>, 4, 4, -10, 10, 0, 0},
    MathFunction{"asinpi", "asinpi(a)", 1, of_one<mpfr_asinpi>, 5, 5, -1, 1, 0, 0},
    MathFunction{"atan", "atan(a)", 1, of_one<mpfr_atan>, 5, 5, -10, 10, 0, 0},
    MathFunction{"atanh", "atanh(a)", 1, of_one<mpfr_atanh>, 5, 5, -1, 1, 0, 0},
    MathFunction{"atanpi", "atanpi(a)", 1, of_one<mpfr_atanpi>, 5, 5, -10, 10, 0, 0},
    MathFunction{"atan2", "atan2(a, b)", 2, of_two<mpfr_atan2>, 6, 6, -10, 10, -10, 10},
    MathFunction{"atan2pi", "atan2pi(a, b)", 2, of_two<mpfr_atan2pi>, 6, 6, -10, 10, -10, 10},
    MathFunction{"cbrt", "cbrt(a)", 1, of_one<mpfr_cbrt>, 2, 2, -1000, 1000, 0, 0},
    MathFunction{"ceil", "ceil(a)", 1, ref_ceil, kCorrect, kCorrect, -100, 100, 0, 0},
    MathFunction{"cos", "cos(a)", 1, of_one<mpfr_cos>, 4, 4, -20, 20, 0, 0},
    MathFunction{"cosh", "cosh(a)", 1, of_one<mpfr_cosh>, 4, 4, -90, 90, 0, 0},
    MathFunction{"cospi", "cospi(a)", 1, of_one<mpfr_cospi>, 4, 4, -20, 20, 0, 0, false, true},
    MathFunction{"divide", "a / b", 2, of_two<mpfr_div>, 2.5, kCorrect, -1000, 1000, -1000, 1000},
    MathFunction{"erf", "erf(a)", 1, of_one<mpfr_erf>, 16, 16, -6, 6, 0, 0},
    MathFunction{"erfc", "erfc(a)", 1, of_one<mpfr_erfc>, 16, 16, -6, 28, 0, 0},
    MathFunction{"exp", "exp(a)", 1, of_one<mpfr_exp>, 3, 3, -104, 89, 0, 0},
    MathFunction{"exp2", "exp2(a)", 1, of_one<mpfr_exp2>, 3, 3, -150, 129, 0, 0},
    MathFunction{"exp10", "exp10(a)", 1, of_one<mpfr_exp10>, 3, 3, -45, 39, 0, 0},
    MathFunction{"expm1", "expm1(a)", 1, of_one<mpfr_expm1>, 3, 3, -20, 89, 0, 0, false, true},
    MathFunction{"fdim", "fdim(a, b)", 2, of_two<mpfr_dim>, kCorrect, kCorrect, -100, 100, -100, 100},
    MathFunction{"floor", "floor(a)", 1, ref_floor, kCorrect, kCorrect, -100, 100, 0, 0},
    MathFunction{"fma", "fma(a, b, c)", 3, ref_fma, kCorrect, kCorrect, -1000, 1000, -1000, 1000},
    MathFunction{"fmod", "fmod(a, b)", 2, of_two<mpfr_fmod>, kCorrect, kCorrect, -1000, 1000, -10, 10},
    MathFunction{"hypot", "hypot(a, b)", 2, of_two<mpfr_hypot>, 4, 4, -1000, 1000, -1000, 1000},
    MathFunction{"ldexp", "ldexp(a, n)", 1, ref_ldexp, kCorrect, kCorrect, -1000, 1000, 0, 0},
    MathFunction{"lgamma", "lgamma(a)", 1, ref_lgamma, 16, 16, 3, 100, 0, 0, true},
    MathFunction{"log", "log(a)", 1, of_one<mpfr_log>, 3, 3, 0, 4, 0, 0},
    MathFunction{"log2", "log2(a)", 1, of_one<mpfr_log2>, 3, 3, 0, 4, 0, 0},
    MathFunction{"log10", "log10(a)", 1, of_one<mpfr_log10>, 3, 3, 0, 4, 0, 0},
    MathFunction{"log1p", "log1p(a)", 1, of_one<mpfr_log1p>, 2, 2, -1, 3, 0, 0, false, true},
    MathFunction{"logb", "logb(a)", 1, ref_logb, kCorrect, kCorrect, -1000, 1000, 0, 0},
    MathFunction{"pow", "pow(a, b)", 2, of_two<mpfr_pow>, 16, 16, 0, 50, -20, 20},
    MathFunction{"pown", "pown(a, n)", 1, ref_pown, 16, 16, -3, 3, 0, 0},
    MathFunction{"powr", "powr(a, b)", 2, ref_powr, 16, 16, 0, 50, -20, 20},
    MathFunction{"recip", "1 / a", 1, ref_recip, 2.5, kCorrect, -1000, 1000, 0, 0},
    MathFunction{"remainder", "remainder(a, b)", 2, of_two<mpfr_remainder>, kCorrect, kCorrect, -1000, 1000, -10, 10},
    MathFunction{"rint", "rint(a)", 1, of_one<mpfr_rint>, kCorrect, kCorrect, -100, 100, 0, 0},
    MathFunction{"rootn", "rootn(a, n)", 1, ref_rootn, 16, 16, -1000, 1000, 0, 0},
    MathFunction{"round", "round(a)", 1, ref_round, kCorrect, kCorrect, -100, 100, 0, 0, false, true},
    MathFunction{"rsqrt", "rsqrt(a)", 1, ref_rsqrt, 2, 2, 0, 1000, 0, 0},
    MathFunction{"sin", "sin(a)", 1, of_one<mpfr_sin>, 4, 4, -20, 20, 0, 0},
    MathFunction{"sinh", "sinh(a)", 1, of_one<mpfr_sinh>, 4, 4, -90, 90, 0, 0},
    MathFunction{"sinpi", "sinpi(a)", 1, of_one<mpfr_sinpi>, 4, 4, -20, 20, 0, 0, false, true},
    MathFunction{"sqrt", "sqrt(a)", 1, of_one<mpfr_sqrt>, 3, kCorrect, 0, 1000, 0, 0},
    MathFunction{"tan", "tan(a)", 1, of_one<mpfr_tan>, 5, 5, -20, 20, 0, 0},
    MathFunction{"tanh", "tanh(a)", 1, of_one<mpfr_tanh>, 5, 5, -10, 10, 0, 0},
    MathFunction{"tanpi", "tanpi(a)", 1, of_one<mpfr_tanpi>, 6, 6, -20, 20, 0, 0},
    MathFunction{"tgamma", "tgamma(a)", 1, of_one<mpfr_gamma>, 16, 16, 0, 36, 0, 0, true},
    MathFunction{"tgamma_neg", "tgamma(a)", 1, of_one<mpfr_gamma>, 256, 16, -30, 0, 0, 0, true},
    MathFunction{"trunc", "trunc(a)", 1, ref_trunc, kCorrect, kCorrect, -100, 100, 0, 0},
    MathFunction{"half_cos", "half_cos(a)", 1, of_one<mpfr_cos>, 8192, kNotThere, -65536, 65536, 0, 0, true},
    MathFunction{"half_divide", "half_divide(a, b)", 2, of_two<mpfr_div>, 8192, kNotThere, -1000, 1000, -1000, 1000},
    MathFunction{"half_exp", "half_exp(a)", 1, of_one<mpfr_exp>, 8192, kNotThere, -86, 88, 0, 0},
    MathFunction{"half_exp2", "half_exp2(a)", 1, of_one<mpfr_exp2>, 8192, kNotThere, -125, 127, 0, 0},
    MathFunction{"half_exp10", "half_exp10(a)", 1, of_one<mpfr_exp10>, 8192, kNotThere, -37, 38, 0, 0},
    MathFunction{"half_log", "half_log(a)", 1, of_one<mpfr_log>, 8192, kNotThere, 0, 4, 0, 0},
    MathFunction{"half_log2", "half_log2(a)", 1, of_one<mpfr_log2>, 8192, kNotThere, 0, 4, 0, 0},
    MathFunction{"half_log10", "half_log10(a)", 1, of_one<mpfr_log10>, 8192, kNotThere, 0, 4, 0, 0},
    MathFunction{"half_powr", "half_powr(a, b)", 2, ref_powr, 8192, kNotThere, 0, 50, -20, 20},
    MathFunction{"half_recip", "half_recip(a)", 1, ref_recip, 8192, kNotThere, -1000, 1000, 0, 0},
    MathFunction{"half_rsqrt", "half_rsqrt(a)", 1, ref_rsqrt, 8192, kNotThere, 0, 1000, 0, 0},
    MathFunction{"half_sin", "half_sin(a)", 1, of_one<mpfr_sin>, 8192, kNotThere, -65536, 65536, 0, 0, true},
    MathFunction{"half_sqrt", "half_sqrt(a)", 1, of_one<mpfr_sqrt>, 8192, kNotThere, 0, 1000, 0, 0},
    MathFunction{"half_tan", "half_tan(a)", 1, of_one<mpfr_tan>, 8192, kNotThere, -65536, 65536, 0, 0, true},
};

}  // namespace

std::span<const MathFunction> math_functions() { return kFunctions; }

}  // namespace lacuna::math
