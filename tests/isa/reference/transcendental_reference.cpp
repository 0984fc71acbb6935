// Reference results of reciprocals, roots, exponential, logarithm, sine and cosine ([GCN3], [Vega]: VOP1), correctly rounded by
// MPFR.
//
// The manuals promise 1 ULP of f32 ("1 ulp accuracy, denormals are flushed") and 2^29 ULP of f64; f16 has no figure. The
// executor's documented bound is tighter for f64 and is checked here: 2 ULP for v_rsq_f64, 1 ULP for all other instructions.
#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

using Format = const BinaryFormat&;
/// Type of MPFR's functions: result, argument, rounding mode; they return the ternary value.
using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

int reciprocal(mpfr_ptr r, mpfr_srcptr v, mpfr_rnd_t d) { return mpfr_ui_div(r, 1, v, d); }
int sine(mpfr_ptr r, mpfr_srcptr v, mpfr_rnd_t d) { return mpfr_sinu(r, v, 1, d); }  // the argument is in turns
int cosine(mpfr_ptr r, mpfr_srcptr v, mpfr_rnd_t d) { return mpfr_cosu(r, v, 1, d); }

/// f32 denormals are flushed regardless of MODE, except for sine and cosine.
struct Denormals {
  bool always_flushed;
  std::uint64_t seen(std::uint64_t v, const Context& x, Format f) const {
    return always_flushed ? f.flushed(v) : input(v, x, f);
  }
  RoundingRule rule(const Context& x, Format f) const { return {rounding_of(x, f), always_flushed || !keeps_results(x, f)}; }
};
constexpr Denormals of(Format f) { return {f.width == 32}; }

std::uint64_t computed(Function function, std::uint64_t v, Format f, const RoundingRule& rule) {
  const Number argument(v, f);
  Number result(f.precision);
  const int ternary = function(result.get(), argument.get(), mpfr_mode(rule.mode));
  return pack(result, ternary, f, rule);
}

// One function per operation and format. Each handles special values first, according to IEEE 754 ([Vega]: "with IEEE rules").
template <const BinaryFormat& F>
struct Of {
  static Outcome rcp(const Lane& l, const Context& x) {
    const std::uint64_t v = of(F).seen(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.zero(v)) return {v | F.infinity()};
    if (F.infinite(v)) return {v & F.sign()};
    return {computed(reciprocal, v, F, of(F).rule(x, F))};
  }
  static Outcome sqrt(const Lane& l, const Context& x) {
    const std::uint64_t v = of(F).seen(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.zero(v)) return {v};
    if (F.negative(v)) return {F.default_nan()};
    if (F.infinite(v)) return {v};
    return {computed(mpfr_sqrt, v, F, of(F).rule(x, F))};
  }
  static Outcome rsq(const Lane& l, const Context& x) {
    const std::uint64_t v = of(F).seen(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.zero(v)) return {v | F.infinity()};
    if (F.negative(v)) return {F.default_nan()};
    if (F.infinite(v)) return {0};
    return {computed(mpfr_rec_sqrt, v, F, of(F).rule(x, F))};
  }
  static Outcome log(const Lane& l, const Context& x) {
    const std::uint64_t v = of(F).seen(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.zero(v)) return {F.sign() | F.infinity()};
    if (F.negative(v)) return {F.default_nan()};
    if (F.infinite(v)) return {v};
    if (v == F.one()) return {0};
    return {computed(mpfr_log2, v, F, of(F).rule(x, F))};
  }
  static Outcome exp(const Lane& l, const Context& x) {
    const std::uint64_t v = of(F).seen(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.zero(v)) return {F.one()};
    if (F.infinite(v)) return {F.negative(v) ? 0 : v};
    return {
        computed([](mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t d) { return mpfr_exp2(r, a, d); }, clipped(v), F, of(F).rule(x, F))};
  }
  /// The domain is [-256, 256]; outside it the result is that of zero, and infinities give NaN.
  static Outcome sin(const Lane& l, const Context& x) {
    const std::uint64_t v = input(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.infinite(v)) return {F.default_nan()};
    if (F.zero(v)) return {v};
    if (outside(v)) return {0};
    const std::uint64_t r = computed(sine, v, F, rule_of(x, F));
    return {exactly_zero(sine, v) ? 0 : r};  // no document defines the sign of this zero
  }
  static Outcome cos(const Lane& l, const Context& x) {
    const std::uint64_t v = input(l.a, x, F);
    if (F.nan(v)) return {v | F.quiet_bit()};
    if (F.infinite(v)) return {F.default_nan()};
    if (F.zero(v) || outside(v)) return {F.one()};
    const std::uint64_t r = computed(cosine, v, F, rule_of(x, F));
    return {exactly_zero(cosine, v) ? 0 : r};
  }

 private:
  static bool outside(std::uint64_t v) {
    const Number x(v, F);
    return mpfr_cmpabs_ui(x.get(), 256) > 0;
  }
  static bool exactly_zero(Function function, std::uint64_t v) {
    const Number argument(v, F);
    Number result(24);
    function(result.get(), argument.get(), MPFR_RNDN);
    return mpfr_zero_p(result.get()) != 0;
  }
  /// Limits the argument of 2^v to +-4096: the result is the same, and within MPFR's exponent range.
  static std::uint64_t clipped(std::uint64_t v) {
    const std::uint64_t limit = from_integer(4096, F, {});
    return F.magnitude(v) > limit ? (v & F.sign()) | limit : v;
  }
};
using H = Of<kHalf16>;
using S = Of<kSingle>;
using D = Of<kDouble>;

constexpr ReferenceEntry kEntries[] = {
    {"v_exp_f32", S::exp, 1},   {"v_exp_legacy_f32", S::exp, 1}, {"v_exp_f16", H::exp, 1},
    {"v_log_f32", S::log, 1},   {"v_log_legacy_f32", S::log, 1}, {"v_log_f16", H::log, 1},
    {"v_rcp_f32", S::rcp, 1},   {"v_rcp_iflag_f32", S::rcp, 1},  {"v_rcp_f64", D::rcp, 1},
    {"v_rcp_f16", H::rcp, 1},   {"v_rsq_f32", S::rsq, 1},        {"v_rsq_f64", D::rsq, 2},
    {"v_rsq_f16", H::rsq, 1},   {"v_sqrt_f32", S::sqrt, 1},      {"v_sqrt_f64", D::sqrt, 1},
    {"v_sqrt_f16", H::sqrt, 1}, {"v_sin_f32", S::sin, 1},        {"v_sin_f16", H::sin, 1},
    {"v_cos_f32", S::cos, 1},   {"v_cos_f16", H::cos, 1},
};

}  // namespace

std::span<const ReferenceEntry> transcendental_references() { return kEntries; }

}  // namespace lacuna::isa::test
