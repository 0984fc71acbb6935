#include "tests/isa/reference/mpfr_float.h"

#include <bit>
#include <cmath>

namespace lacuna::isa::test {
namespace {

/// A finite number as a double, which represents the numbers of every format exactly.
double as_double(std::uint64_t bits, const BinaryFormat& f) {
  if (f.width == 64) return std::bit_cast<double>(bits);
  if (f.width == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const int exponent = f.exponent(bits);
  const auto fraction = static_cast<double>(bits & (f.hidden() - 1));
  const double m = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return f.negative(bits) ? -m : m;
}

std::uint64_t bits_of(double v, const BinaryFormat& f) {
  if (f.width == 64) return std::bit_cast<std::uint64_t>(v);
  if (f.width == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(v));
  const std::uint64_t sign = std::signbit(v) ? f.sign() : 0;
  const double m = std::fabs(v);
  if (std::isinf(m)) return sign | f.infinity();
  if (m < 0x1p-14) return sign | static_cast<std::uint64_t>(std::ldexp(m, 24));
  int exponent = 0;
  const double significand = std::frexp(m, &exponent);
  return sign |
         ((static_cast<std::uint64_t>(exponent + 14) << 10) + static_cast<std::uint64_t>(std::ldexp(significand, 11)) - 1024);
}

/// Sets MPFR's exponent range while a result is packed.
class ExponentRange {
 public:
  explicit ExponentRange(const BinaryFormat& f) : least_(mpfr_get_emin()), greatest_(mpfr_get_emax()) {
    mpfr_set_emin(f.least);
    mpfr_set_emax(f.greatest);
  }
  ~ExponentRange() {
    mpfr_set_emin(least_);
    mpfr_set_emax(greatest_);
  }
  ExponentRange(const ExponentRange&) = delete;
  ExponentRange& operator=(const ExponentRange&) = delete;

 private:
  mpfr_exp_t least_, greatest_;
};

bool tiny(mpfr_srcptr v, const BinaryFormat& f) { return mpfr_regular_p(v) != 0 && mpfr_get_exp(v) < f.least_normal; }

}  // namespace

Number::Number(std::uint64_t bits, const BinaryFormat& format) {
  mpfr_init2(value_, 53);
  mpfr_set_d(value_, as_double(bits, format), MPFR_RNDN);
}

mpfr_rnd_t mpfr_mode(unsigned mode) {
  constexpr mpfr_rnd_t kModes[] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};
  return kModes[mode & 3];
}

std::uint64_t pack(Number& value, int ternary, const BinaryFormat& format, const RoundingRule& rule) {
  const std::uint64_t sign = mpfr_signbit(value.get()) != 0 ? format.sign() : 0;
  if (rule.flush && format.tiny_before_denormal_rounding && tiny(value.get(), format)) return sign;
  const mpfr_rnd_t direction = mpfr_mode(rule.mode);
  double result = 0;
  {
    const ExponentRange range(format);
    const int checked = mpfr_check_range(value.get(), ternary, direction);
    mpfr_subnormalize(value.get(), checked, direction);
    result = mpfr_get_d(value.get(), MPFR_RNDN);
  }
  const std::uint64_t bits = bits_of(result, format);
  return rule.flush ? format.flushed(bits) : bits;
}

std::uint64_t round_exact(const Number& exact, const BinaryFormat& format, const RoundingRule& rule) {
  Number rounded(format.precision);
  const int ternary = mpfr_set(rounded.get(), exact.get(), mpfr_mode(rule.mode));
  return pack(rounded, ternary, format, rule);
}

std::uint64_t propagated_nan(const BinaryFormat& format, std::initializer_list<std::uint64_t> operands) {
  for (const std::uint64_t v : operands) {
    if (format.nan(v)) return v | format.quiet_bit();
  }
  return format.default_nan();
}

std::uint64_t add(std::uint64_t a, std::uint64_t b, const BinaryFormat& f, const RoundingRule& rule) {
  if (f.nan(a) || f.nan(b) || (f.infinite(a) && f.infinite(b) && a != b)) return propagated_nan(f, {a, b});
  if (f.infinite(a)) return a;
  if (f.infinite(b)) return b;
  const Number x(a, f);
  const Number y(b, f);
  Number sum(f.precision);
  const int ternary = mpfr_add(sum.get(), x.get(), y.get(), mpfr_mode(rule.mode));
  return pack(sum, ternary, f, rule);
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, const BinaryFormat& f, const RoundingRule& rule) {
  if (f.nan(a) || f.nan(b)) return propagated_nan(f, {a, b});
  if (f.infinite(a) || f.infinite(b)) {
    if (f.zero(a) || f.zero(b)) return f.default_nan();
    return ((a ^ b) & f.sign()) | f.infinity();
  }
  const Number x(a, f);
  const Number y(b, f);
  Number product(f.precision);
  const int ternary = mpfr_mul(product.get(), x.get(), y.get(), mpfr_mode(rule.mode));
  return pack(product, ternary, f, rule);
}

std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, const BinaryFormat& f, const RoundingRule& rule) {
  if (f.nan(a) || f.nan(b) || f.nan(c)) return propagated_nan(f, {a, b, c});
  if (f.infinite(a) || f.infinite(b)) return add(multiply(a, b, f, rule), c, f, rule);  // exact: infinity or NaN
  if (f.infinite(c)) return c;
  const Number x(a, f);
  const Number y(b, f);
  const Number z(c, f);
  Number sum(f.precision);
  const int ternary = mpfr_fma(sum.get(), x.get(), y.get(), z.get(), mpfr_mode(rule.mode));
  return pack(sum, ternary, f, rule);
}

std::uint64_t scaled(std::uint64_t v, std::int64_t exponent, const BinaryFormat& f, const RoundingRule& rule) {
  if (f.nan(v)) return v | f.quiet_bit();
  if (f.infinite(v)) return v;
  Number x(v, f);
  // Clamps the exponent to limits beyond the range of every format, but within MPFR's range.
  const long shift = exponent < -8192 ? -8192 : exponent > 8192 ? 8192 : static_cast<long>(exponent);
  mpfr_mul_2si(x.get(), x.get(), shift, MPFR_RNDN);
  return round_exact(x, f, rule);
}

std::uint64_t converted(std::uint64_t v, const BinaryFormat& from, const BinaryFormat& to, const RoundingRule& rule) {
  const std::uint64_t sign = from.negative(v) ? to.sign() : 0;
  if (from.nan(v)) {
    const std::uint64_t payload = (v | from.quiet_bit()) & (from.hidden() - 1);
    const int up = to.precision - from.precision;
    return sign | to.infinity() | (up >= 0 ? payload << up : payload >> -up);
  }
  if (from.infinite(v)) return sign | to.infinity();
  return round_exact(Number(v, from), to, rule);
}

std::uint64_t from_integer(std::int64_t v, const BinaryFormat& to, const RoundingRule& rule) {
  Number x(64);
  mpfr_set_si(x.get(), static_cast<long>(v), MPFR_RNDN);
  return round_exact(x, to, rule);
}

std::uint64_t integral(std::uint64_t v, mpfr_rnd_t direction, const BinaryFormat& f) {
  if (f.nan(v)) return v | f.quiet_bit();
  if (f.infinite(v)) return v;
  const Number x(v, f);
  Number whole(f.precision);
  if (direction == MPFR_RNDN) {
    mpfr_roundeven(whole.get(), x.get());
  } else {
    mpfr_rint(whole.get(), x.get(), direction);
  }
  return round_exact(whole, f, {});
}

int compare(std::uint64_t a, std::uint64_t b, const BinaryFormat& f) {
  if (f.nan(a) || f.nan(b)) return 2;
  const auto order = [&](std::uint64_t v) {
    const auto m = static_cast<std::int64_t>(f.magnitude(v));
    return f.negative(v) ? -m : m;
  };
  return order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0;
}

}  // namespace lacuna::isa::test
