// IEEE 754 arithmetic on exact integers, for tests: unpack, compute exactly, round once. Shares nothing with the executors,
// which let the host round.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

namespace lacuna::isa::test {

__extension__ using Wide = unsigned __int128;

struct FloatFormat {
  int fraction;
  int exponent_bits;
  bool flush_before_rounding_to_normal;  ///< see round()

  int width() const { return 1 + exponent_bits + fraction; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign() const { return std::uint64_t{1} << (width() - 1); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << fraction; }
  std::uint64_t quiet() const { return std::uint64_t{1} << (fraction - 1); }
  std::uint64_t default_nan() const { return sign() | infinity() | quiet(); }
  std::uint64_t magnitude(std::uint64_t v) const { return v & (sign() - 1); }
  bool nan(std::uint64_t v) const { return magnitude(v) > infinity(); }
  bool infinite(std::uint64_t v) const { return magnitude(v) == infinity(); }
  bool zero(std::uint64_t v) const { return magnitude(v) == 0; }
  bool negative(std::uint64_t v) const { return (v & sign()) != 0; }
  bool denormal(std::uint64_t v) const { return !zero(v) && magnitude(v) < (std::uint64_t{1} << fraction); }
  std::uint64_t flushed(std::uint64_t v) const { return denormal(v) ? v & sign() : v; }
};

inline constexpr FloatFormat kF16{10, 5, false};
inline constexpr FloatFormat kF32{23, 8, true};
inline constexpr FloatFormat kF64{52, 11, true};

/// The number (-1)^negative * m * 2^e, or slightly more in magnitude if `sticky`.
struct Exact {
  bool negative = false;
  Wide m = 0;
  int e = 0;
  bool sticky = false;
};

struct Rounding {
  unsigned mode = 0;  ///< encoded as in MODE: 0 nearest even, 1 +inf, 2 -inf, 3 zero
  bool flush_inputs = false;
  bool flush_results = false;
};

inline int top_bit(Wide m) {
  const auto high = static_cast<std::uint64_t>(m >> 64);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<std::uint64_t>(m));
}

/// m >> shift, with the lost bits in `sticky`.
inline Wide shift_right(Wide m, int shift, bool& sticky) {
  if (shift <= 0) return m << -shift;
  if (shift > 127) {
    sticky = sticky || m != 0;
    return 0;
  }
  sticky = sticky || (m & ((Wide{1} << shift) - 1)) != 0;
  return m >> shift;
}

inline Exact unpack(std::uint64_t v, const FloatFormat& f) {
  const std::uint64_t fraction = v & ((std::uint64_t{1} << f.fraction) - 1);
  const int biased = static_cast<int>(f.magnitude(v) >> f.fraction);
  const bool normal = biased != 0;
  return {f.negative(v), normal ? fraction | std::uint64_t{1} << f.fraction : fraction,
          (normal ? biased : 1) - f.bias() - f.fraction, false};
}

/// x as a multiple of 2^unit, rounded; the sign is dropped.
inline Wide round_at(const Exact& x, int unit, unsigned mode) {
  bool below_half = x.sticky;
  const int shift = unit - x.e;
  if (shift <= 0) return x.m << -shift;  // callers leave room so that x is exact here
  const Wide twice = shift - 1 > 127 ? 0 : shift_right(x.m, shift - 1, below_half);
  if (shift - 1 > 127) below_half = below_half || x.m != 0;
  const bool half = (twice & 1) != 0;
  const Wide kept = twice >> 1;
  const bool inexact = half || below_half;
  const bool up = mode == 0   ? half && (below_half || (kept & 1) != 0)
                  : mode == 1 ? inexact && !x.negative
                  : mode == 2 ? inexact && x.negative
                              : false;
  return kept + (up ? 1 : 0);
}

/// Rounds to `f`. With flush_results, f32 and f64 results are flushed if they are tiny after rounding with unbounded exponent
/// range, as on x86. f16 results are flushed if they are denormal after rounding.
inline std::uint64_t round(const Exact& x, const FloatFormat& f, const Rounding& r) {
  const std::uint64_t sign = x.negative ? f.sign() : 0;
  if (x.m == 0) return sign;
  const int smallest = 1 - f.bias();
  const int exponent = x.e + top_bit(x.m);
  if (r.flush_results && f.flush_before_rounding_to_normal && exponent < smallest) {
    const Wide unbounded = round_at(x, exponent - f.fraction, r.mode);
    const bool reaches_next = (unbounded >> (f.fraction + 1)) != 0;
    if (exponent + (reaches_next ? 1 : 0) < smallest) return sign;
  }
  const int at = exponent < smallest ? smallest : exponent;
  const Wide kept = round_at(x, at - f.fraction, r.mode);
  // `kept` has its leading one at bit `fraction` if normal, and overflows into the exponent correctly.
  const Wide packed = kept + (static_cast<Wide>(at + f.bias() - 1) << f.fraction);
  const std::uint64_t magnitude = exponent > f.bias() ? f.infinity() : static_cast<std::uint64_t>(packed);
  if (magnitude >= f.infinity()) {
    const bool to_infinity = r.mode == 0 || (r.mode == 1 && !x.negative) || (r.mode == 2 && x.negative);
    return sign | (to_infinity ? f.infinity() : f.infinity() - 1);
  }
  if (r.flush_results && f.denormal(magnitude)) return sign;
  return sign | magnitude;
}

/// The first NaN among the operands, quieted; otherwise the default NaN.
inline std::uint64_t nan_of(const FloatFormat& f, std::initializer_list<std::uint64_t> operands) {
  for (const std::uint64_t v : operands) {
    if (f.nan(v)) return v | f.quiet();
  }
  return f.default_nan();
}

/// a * b + c with one rounding; `c` absent: a * b.
inline std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::optional<std::uint64_t> c, const FloatFormat& f,
                                  const Rounding& r) {
  const std::uint64_t addend = c.value_or(0);
  if (f.nan(a) || f.nan(b) || f.nan(addend)) return nan_of(f, {a, b, addend});
  if (r.flush_inputs)
    return multiply_add(f.flushed(a), f.flushed(b), c ? std::optional(f.flushed(*c)) : c, f, {r.mode, false, r.flush_results});
  const bool negative = f.negative(a) != f.negative(b);
  if (f.infinite(a) || f.infinite(b)) {
    if (f.zero(a) || f.zero(b)) return f.default_nan();
    if (c && f.infinite(addend) && f.negative(addend) != negative) return f.default_nan();
    return (negative ? f.sign() : 0) | f.infinity();
  }
  if (c && f.infinite(addend)) return addend;
  const Exact x = unpack(a, f);
  const Exact y = unpack(b, f);
  Exact product{negative, x.m * y.m, x.e + y.e, false};
  if (!c) return round(product, f, r);
  Exact z = unpack(addend, f);
  if (product.m == 0 && z.m == 0) {
    if (product.negative == z.negative) return product.negative ? f.sign() : 0;
    return r.mode == 2 ? f.sign() : 0;
  }
  if (product.m == 0) return round(z, f, r);
  if (z.m == 0) return round(product, f, r);
  // Both operands' leading bits are shifted to bit 120. Then the smaller operand is aligned to the larger, and the bits that
  // are shifted out are ORed into a sticky bit.
  for (Exact* v : {&product, &z}) {
    const int up = 120 - top_bit(v->m);
    v->m <<= up;
    v->e -= up;
  }
  Exact& large = product.e >= z.e ? product : z;
  Exact& small = product.e >= z.e ? z : product;
  bool lost = false;
  small.m = shift_right(small.m, large.e - small.e, lost);
  Exact sum{large.negative, 0, large.e, lost};
  if (large.negative == small.negative) {
    sum.m = large.m + small.m;
  } else if (large.m >= small.m) {
    sum.m = large.m - small.m - (lost ? 1 : 0);  // the true difference lies just above
  } else {
    sum.m = small.m - large.m;
    sum.negative = small.negative;
  }
  if (sum.m == 0 && !lost) return r.mode == 2 ? f.sign() : 0;
  return round(sum, f, r);
}

inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b, const FloatFormat& f, const Rounding& r) {
  return multiply_add(a, b, std::nullopt, f, r);
}
inline std::uint64_t one(const FloatFormat& f) { return static_cast<std::uint64_t>(f.bias()) << f.fraction; }
inline std::uint64_t add(std::uint64_t a, std::uint64_t b, const FloatFormat& f, const Rounding& r) {
  if (f.nan(a) || f.nan(b)) return nan_of(f, {a, b});
  return multiply_add(a, one(f), b, f, r);
}

/// a / b, rounded once; NaNs, infinities and zeros according to IEEE 754.
inline std::uint64_t divide(std::uint64_t a, std::uint64_t b, const FloatFormat& f, const Rounding& r) {
  if (f.nan(a) || f.nan(b)) return nan_of(f, {a, b});
  const std::uint64_t sign = (a ^ b) & f.sign();
  if ((f.zero(a) && f.zero(b)) || (f.infinite(a) && f.infinite(b))) return f.default_nan();
  if (f.infinite(a) || f.zero(b)) return sign | f.infinity();
  if (f.zero(a) || f.infinite(b)) return sign;
  Exact x = unpack(a, f);
  Exact y = unpack(b, f);
  const int up = 126 - top_bit(x.m);
  x.m <<= up;
  x.e -= up;
  // The quotient has at least 126 - 52 bits; the remainder is sticky.
  return round({sign != 0, x.m / y.m, x.e - y.e, x.m % y.m != 0}, f, r);
}

/// Converts to another format, rounded once; NaN payloads keep their upper bits.
inline std::uint64_t convert(std::uint64_t v, const FloatFormat& from, const FloatFormat& to, const Rounding& r) {
  const std::uint64_t sign = from.negative(v) ? to.sign() : 0;
  if (from.nan(v)) {
    const std::uint64_t payload = (v | from.quiet()) & ((std::uint64_t{1} << from.fraction) - 1);
    const int shift = to.fraction - from.fraction;
    return sign | to.infinity() | (shift >= 0 ? payload << shift : payload >> -shift);
  }
  if (from.infinite(v)) return sign | to.infinity();
  if (r.flush_inputs) v = from.flushed(v);
  return round(unpack(v, from), to, r);
}

}  // namespace lacuna::isa::test
