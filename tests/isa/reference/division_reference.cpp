// Reference results of the instructions that compilers emit around a division, and of the argument reduction of f64 sine and
// cosine ([GCN3], [Vega]: V_DIV_*, V_TRIG_PREOP_F64).
#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

using Format = const BinaryFormat&;

/// Exponents with which V_DIV_SCALE and V_DIV_FIXUP of a format compare, and the scale of V_DIV_SCALE and V_DIV_FMAS.
struct Limits {
  int far;              ///< smallest exponent difference at which the quotient is near the greatest number
  int small_numerator;  ///< greatest biased exponent of a numerator that is scaled up
  int underflow;        ///< exponent difference below which V_DIV_FIXUP takes the quotient for an underflow
  int scale;            ///< power of two
};
constexpr Limits kSingleLimits{96, 23, -150, 64};
constexpr Limits kDoubleLimits{768, 53, -1075, 128};

/// Whether the magnitude of n / d, before rounding, is below the smallest normal number.
bool quotient_is_tiny(std::uint64_t n, std::uint64_t d, Format f) {
  if (f.nan(n) || f.nan(d) || f.infinite(n) || f.infinite(d)) return false;
  Number x(f.magnitude(n), f);
  Number bound(f.magnitude(d), f);
  mpfr_mul_2si(bound.get(), bound.get(), f.least_normal - 1, MPFR_RNDN);  // exact
  return mpfr_less_p(x.get(), bound.get()) != 0;
}

Outcome scale(const Lane& l, const Context& x, Format f, const Limits& limits) {
  const std::uint64_t value = input(l.a, x, f);
  const std::uint64_t denominator = input(l.b, x, f);
  const std::uint64_t numerator = input(l.c, x, f);
  const auto times = [&](int power) { return scaled(value, power, f, {}); };
  if (f.zero(denominator) || f.zero(numerator)) return {f.default_nan()};
  const bool tiny_reciprocal = quotient_is_tiny(f.one(), denominator, f);
  const bool tiny_quotient = quotient_is_tiny(numerator, denominator, f);
  if (f.exponent(numerator) - f.exponent(denominator) >= limits.far)
    return {value == denominator ? times(limits.scale) : value, 0, true};
  if (f.denormal(denominator)) return {times(limits.scale)};
  // The manuals print the upward scale here, too, but with it a denominator of this size would overflow.
  if (tiny_reciprocal && tiny_quotient) return {value == denominator ? times(-limits.scale) : value, 0, true};
  if (tiny_reciprocal) return {times(-limits.scale)};
  if (tiny_quotient) return {value == numerator ? times(limits.scale) : value, 0, true};
  if (f.exponent(numerator) <= limits.small_numerator) return {times(limits.scale)};
  return {value};
}

/// S0 * S1 + S2, times a power of two if VCC is set. The manuals do not define how often the result is rounded. Here it is
/// rounded once, unless the sum itself is outside of the normal numbers. The direction of scaling is that of the RDNA3 manual.
Outcome fused_scaled(const Lane& l, const Context& x, Format f, const Limits& limits) {
  const std::uint64_t a = input(l.a, x, f);
  const std::uint64_t b = input(l.b, x, f);
  const std::uint64_t c = input(l.c, x, f);
  const RoundingRule rule = rule_of(x, f);
  const std::uint64_t sum = fused(a, b, c, f, rule);
  if (!l.flag) return {sum};
  const int power = f.exponent(c) > f.exponent(f.one()) ? limits.scale : -limits.scale;
  // The greatest number may also be an overflow rounded towards zero.
  if (f.magnitude(sum) >= f.infinity() - 1 || f.magnitude(sum) <= f.hidden()) return {scaled(input(sum, x, f), power, f, rule)};
  Number exact(4400);  // from 2^-2148 to 2^2048
  const Number p(a, f);
  const Number q(b, f);
  const Number r(c, f);
  mpfr_fma(exact.get(), p.get(), q.get(), r.get(), MPFR_RNDN);
  mpfr_mul_2si(exact.get(), exact.get(), power, MPFR_RNDN);
  return {round_exact(exact, f, rule)};
}

/// The result for a number beyond the format's range, rounded according to MODE.
std::uint64_t beyond_range(bool negative, long exponent, const Context& x, Format f) {
  Number v(2);
  mpfr_set_si_2exp(v.get(), negative ? -1 : 1, exponent, MPFR_RNDN);
  return round_exact(v, f, rule_of(x, f));
}

Outcome fix_up(const Lane& l, const Context& x, Format f, const Limits* limits) {
  constexpr long kBeyondAll = 4000;
  const std::uint64_t d = input(l.b, x, f);
  const std::uint64_t n = input(l.c, x, f);
  const std::uint64_t sign = (d ^ n) & f.sign();
  if (f.nan(n)) return {n | f.quiet_bit()};
  if (f.nan(d)) return {d | f.quiet_bit()};
  if ((f.zero(d) && f.zero(n)) || (f.infinite(d) && f.infinite(n))) return {f.default_nan()};
  if (f.zero(d) || f.infinite(n)) return {sign | f.infinity()};
  if (f.infinite(d) || f.zero(n)) return {sign};
  if (limits != nullptr && f.exponent(n) - f.exponent(d) < limits->underflow)
    return {beyond_range(sign != 0, -kBeyondAll, x, f)};
  // If the quotient overflows, the iteration yields a NaN.
  if (f.nan(l.a)) return {beyond_range(sign != 0, kBeyondAll, x, f)};
  return {sign | f.magnitude(l.a)};
}

/// 53 bits of the 1201 fraction bits of 2/pi that the instruction contains, at a position determined by the argument's exponent
/// and the segment.
Outcome trig_preop(const Lane& l, const Context& x) {
  constexpr int kBits = 1201;
  constexpr int kArgument = 53;
  const int exponent = kDouble.exponent(l.a);
  const int shift = static_cast<int>(l.b & 31) * kArgument + (exponent > 1077 ? exponent - 1077 : 0);
  Number table(1400);
  mpfr_const_pi(table.get(), MPFR_RNDN);
  mpfr_ui_div(table.get(), 2, table.get(), MPFR_RNDN);
  const auto floor_at = [&](Number& v, int bits) {
    mpfr_mul_2si(v.get(), v.get(), bits, MPFR_RNDN);
    mpfr_floor(v.get(), v.get());
    mpfr_mul_2si(v.get(), v.get(), -bits, MPFR_RNDN);
  };
  floor_at(table, kBits);
  // Bits above the window are subtracted, bits below it are truncated.
  Number above(1400);
  mpfr_set(above.get(), table.get(), MPFR_RNDN);
  floor_at(above, shift);
  mpfr_sub(table.get(), table.get(), above.get(), MPFR_RNDN);
  floor_at(table, shift + kArgument);
  if (exponent >= 1968) mpfr_mul_2si(table.get(), table.get(), 128, MPFR_RNDN);
  return {round_exact(table, kDouble, rule_of(x, kDouble))};
}

constexpr ReferenceEntry kEntries[] = {
    {"v_div_scale_f32", [](const Lane& l, const Context& x) { return scale(l, x, kSingle, kSingleLimits); }},
    {"v_div_scale_f64", [](const Lane& l, const Context& x) { return scale(l, x, kDouble, kDoubleLimits); }},
    {"v_div_fmas_f32", [](const Lane& l, const Context& x) { return fused_scaled(l, x, kSingle, kSingleLimits); }},
    {"v_div_fmas_f64", [](const Lane& l, const Context& x) { return fused_scaled(l, x, kDouble, kDoubleLimits); }},
    {"v_div_fixup_f32", [](const Lane& l, const Context& x) { return fix_up(l, x, kSingle, &kSingleLimits); }},
    {"v_div_fixup_f64", [](const Lane& l, const Context& x) { return fix_up(l, x, kDouble, &kDoubleLimits); }},
    {"v_div_fixup_f16", [](const Lane& l, const Context& x) { return fix_up(l, x, kHalf16, nullptr); }},
    {"v_div_fixup_legacy_f16", [](const Lane& l, const Context& x) { return fix_up(l, x, kHalf16, nullptr); }},
    {"v_trig_preop_f64", trig_preop},
};

}  // namespace

std::span<const ReferenceEntry> division_references() { return kEntries; }

}  // namespace lacuna::isa::test
