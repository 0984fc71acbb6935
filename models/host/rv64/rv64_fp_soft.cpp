#include "models/host/rv64/rv64_fp_soft.h"

#include <utility>

namespace lacuna::rv64::soft {
namespace {

template <FloatBits Bits>
Bits invalid(std::uint64_t& flags) {
  flags |= kInvalid;
  return kCanonicalNan<Bits>;
}

template <FloatBits Bits, class... More>
Bits nan_result(std::uint64_t& flags, Bits a, More... more) {
  if ((is_signalling<Bits>(a) || ... || is_signalling<Bits>(more))) flags |= kInvalid;
  return kCanonicalNan<Bits>;
}

/// A finite value as a wide significand with its leading one at bit 126 or below.
struct Term {
  bool negative;
  int exponent;  // exponent of bit 126 of the significand
  Wide significand;
};

/// Sum of two terms that are not both zero. An exact zero is +0, or -0 when rounding down.
template <FloatBits Bits>
Bits add_terms(Term a, Term b, Rounding rounding, std::uint64_t& flags) {
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) std::swap(a, b);
  const auto distance = static_cast<unsigned>(std::min(a.exponent - b.exponent, 255));
  const Wide aligned = shift_right_jam(b.significand, distance);
  Wide sum = 0;
  bool negative = a.negative;
  if (a.negative == b.negative) {
    sum = a.significand + aligned;
  } else if (a.significand >= aligned) {
    sum = a.significand - aligned;
  } else {
    sum = aligned - a.significand;
    negative = b.negative;
  }
  if (sum == 0) return signed_bits<Bits>(rounding == Rounding::down, 0);
  return pack<Bits>(normalise(negative, a.exponent + 1, sum), rounding, flags);
}

Term term(const Unpacked& value) { return {value.negative, value.exponent, static_cast<Wide>(value.significand) << 63}; }

}  // namespace

template <FloatBits Bits>
Bits add(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) return nan_result(flags, a, b);
  const Unpacked x = unpack(a);
  const Unpacked y = unpack(b);
  if (x.kind == Kind::infinity) return y.kind == Kind::infinity && x.negative != y.negative ? invalid<Bits>(flags) : a;
  if (y.kind == Kind::infinity) return b;
  if (x.kind == Kind::zero && y.kind == Kind::zero) {
    return x.negative == y.negative ? a : signed_bits<Bits>(rounding == Rounding::down, 0);
  }
  if (x.kind == Kind::zero) return b;
  if (y.kind == Kind::zero) return a;
  return add_terms<Bits>(term(x), term(y), rounding, flags);
}

template <FloatBits Bits>
Bits multiply(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) return nan_result(flags, a, b);
  const Unpacked x = unpack(a);
  const Unpacked y = unpack(b);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::infinity || y.kind == Kind::infinity) {
    if (x.kind == Kind::zero || y.kind == Kind::zero) return invalid<Bits>(flags);
    return signed_bits<Bits>(negative, kInfinity<Bits>);
  }
  if (x.kind == Kind::zero || y.kind == Kind::zero) return signed_bits<Bits>(negative, 0);
  const Wide product = static_cast<Wide>(x.significand) * y.significand;
  return pack<Bits>(normalise(negative, x.exponent + y.exponent + 1, product), rounding, flags);
}

template <FloatBits Bits>
Bits divide(Bits a, Bits b, Rounding rounding, std::uint64_t& flags) {
  if (is_nan(a) || is_nan(b)) return nan_result(flags, a, b);
  const Unpacked x = unpack(a);
  const Unpacked y = unpack(b);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::infinity) {
    return y.kind == Kind::infinity ? invalid<Bits>(flags) : signed_bits<Bits>(negative, kInfinity<Bits>);
  }
  if (y.kind == Kind::infinity) return signed_bits<Bits>(negative, 0);
  if (y.kind == Kind::zero) {
    if (x.kind == Kind::zero) return invalid<Bits>(flags);
    flags |= kDivideByZero;
    return signed_bits<Bits>(negative, kInfinity<Bits>);
  }
  if (x.kind == Kind::zero) return signed_bits<Bits>(negative, 0);
  const Wide dividend = static_cast<Wide>(x.significand) << 63;
  const Wide quotient = dividend / y.significand;
  const bool sticky = dividend % y.significand != 0;
  // Bit 63 of the quotient has the weight 2^(x.exponent - y.exponent); a bit added below is set if there is a remainder.
  const Wide jammed = quotient << 1 | (sticky ? 1 : 0);
  return pack<Bits>(normalise(negative, x.exponent - y.exponent + 63, jammed), rounding, flags);
}

template <FloatBits Bits>
Bits square_root(Bits a, Rounding rounding, std::uint64_t& flags) {
  if (is_nan(a)) return nan_result(flags, a);
  const Unpacked x = unpack(a);
  if (x.kind == Kind::zero) return a;
  if (x.negative) return invalid<Bits>(flags);
  if (x.kind == Kind::infinity) return a;
  const bool odd = (x.exponent & 1) != 0;
  const int exponent = (x.exponent - (odd ? 1 : 0)) / 2;
  // The radicand has 127 or 128 bits, so the root has 64 bits: each step computes one of them.
  Wide rest = static_cast<Wide>(x.significand) << (odd ? 64 : 63);
  Wide root = 0;
  for (Wide bit = static_cast<Wide>(1) << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  const Wide jammed = root << 1 | (rest != 0 ? 1 : 0);
  return pack<Bits>(normalise(false, exponent + 63, jammed), rounding, flags);
}

template <FloatBits Bits>
Bits multiply_add(Bits a, Bits b, Bits c, Rounding rounding, std::uint64_t& flags) {
  const Unpacked x = unpack(a);
  const Unpacked y = unpack(b);
  const Unpacked z = unpack(c);
  // Infinity times zero is invalid even when the addend is a quiet NaN (volume I, section 11.6).
  if ((x.kind == Kind::infinity && y.kind == Kind::zero) || (x.kind == Kind::zero && y.kind == Kind::infinity)) {
    return invalid<Bits>(flags);
  }
  if (is_nan(a) || is_nan(b) || is_nan(c)) return nan_result(flags, a, b, c);
  const bool negative = x.negative != y.negative;
  if (x.kind == Kind::infinity || y.kind == Kind::infinity) {
    if (z.kind == Kind::infinity && z.negative != negative) return invalid<Bits>(flags);
    return signed_bits<Bits>(negative, kInfinity<Bits>);
  }
  if (z.kind == Kind::infinity) return c;
  if (x.kind == Kind::zero || y.kind == Kind::zero) {
    if (z.kind != Kind::zero) return c;
    return negative == z.negative ? c : signed_bits<Bits>(rounding == Rounding::down, 0);
  }
  // Significands have at most 53 significant bits at the top, so the lowest 22 bits of the product are zero: the shift is
  // exact.
  const Wide product = (static_cast<Wide>(x.significand) * y.significand) >> 1;
  const Term left{negative, x.exponent + y.exponent + 1, product};
  if (z.kind == Kind::zero) return pack<Bits>(normalise(negative, left.exponent + 1, product), rounding, flags);
  return add_terms<Bits>(left, term(z), rounding, flags);
}

#define LACUNA_RV64_SOFT(Bits)                                  \
  template Bits add(Bits, Bits, Rounding, std::uint64_t&);      \
  template Bits multiply(Bits, Bits, Rounding, std::uint64_t&); \
  template Bits divide(Bits, Bits, Rounding, std::uint64_t&);   \
  template Bits square_root(Bits, Rounding, std::uint64_t&);    \
  template Bits multiply_add(Bits, Bits, Bits, Rounding, std::uint64_t&);
LACUNA_RV64_SOFT(std::uint32_t)
LACUNA_RV64_SOFT(std::uint64_t)
#undef LACUNA_RV64_SOFT

}  // namespace lacuna::rv64::soft
