#include <limits>

#include "models/host/rv64/rv64_fp_soft.h"

namespace lacuna::rv64 {
namespace {

using soft::Kind;
using soft::Unpacked;
using soft::Wide;

/// Magnitude rounded to an integer; bit 64 is set if it does not fit into 64 bits.
struct RoundedMagnitude {
  Wide value;
  bool inexact;
};

RoundedMagnitude round_to_integer(const Unpacked& x, Rounding rounding) {
  if (x.exponent >= 64) return {static_cast<Wide>(1) << 64, false};
  // The fraction below the binary point, as a 64-bit remainder with its half in bit 63.
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  if (x.exponent >= 0) {
    const unsigned drop = 63 - static_cast<unsigned>(x.exponent);
    whole = x.significand >> drop;
    fraction = drop == 0 ? 0 : x.significand << (64 - drop);
  } else {
    fraction = soft::shift_right_jam(x.significand, static_cast<unsigned>(std::min(-1 - x.exponent, 64)));
  }
  const bool away = soft::rounds_away(fraction, std::uint64_t{1} << 63, (whole & 1) != 0, x.negative, rounding);
  return {static_cast<Wide>(whole) + (away ? 1 : 0), fraction != 0};
}

}  // namespace

template <class Integer, FloatBits Bits>
Integer to_integer(Bits a, Rounding rounding, std::uint64_t& flags) {
  using Limits = std::numeric_limits<Integer>;
  const Unpacked x = soft::unpack(a);
  switch (x.kind) {
    case Kind::zero:
      return 0;
    case Kind::nan:
      flags |= kInvalid;
      return Limits::max();
    case Kind::infinity:
      flags |= kInvalid;
      return x.negative ? Limits::min() : Limits::max();
    case Kind::finite:
      break;
  }
  const RoundedMagnitude rounded = round_to_integer(x, rounding);
  Wide largest = static_cast<Wide>(static_cast<std::make_unsigned_t<Integer>>(Limits::max()));
  if (x.negative) largest = Limits::is_signed ? largest + 1 : 0;
  if (rounded.value > largest) {
    flags |= kInvalid;
    return x.negative ? Limits::min() : Limits::max();
  }
  if (rounded.inexact) flags |= kInexact;
  const auto magnitude = static_cast<std::uint64_t>(rounded.value);
  return static_cast<Integer>(x.negative ? 0 - magnitude : magnitude);
}

template <FloatBits Bits, class Integer>
Bits from_integer(Integer value, Rounding rounding, std::uint64_t& flags) {
  if (value == 0) return 0;
  bool negative = false;
  if constexpr (std::numeric_limits<Integer>::is_signed) negative = value < 0;
  const auto wide = static_cast<std::uint64_t>(value);  // sign-extends
  const std::uint64_t magnitude = negative ? 0 - wide : wide;
  // Bit 127 of the wide significand has the weight 2^127, so the integer is in the low half.
  return soft::pack<Bits>(soft::normalise(negative, 127, magnitude), rounding, flags);
}

std::uint32_t narrow(std::uint64_t a, Rounding rounding, std::uint64_t& flags) {
  const Unpacked x = soft::unpack(a);
  switch (x.kind) {
    case Kind::nan:
      if (is_signalling(a)) flags |= kInvalid;
      return kCanonicalNan<std::uint32_t>;
    case Kind::infinity:
      return soft::signed_bits(x.negative, kInfinity<std::uint32_t>);
    case Kind::zero:
      return soft::signed_bits<std::uint32_t>(x.negative, 0);
    default:
      return soft::pack<std::uint32_t>(x, rounding, flags);
  }
}

std::uint64_t widen(std::uint32_t a, std::uint64_t& flags) {
  const Unpacked x = soft::unpack(a);
  switch (x.kind) {
    case Kind::nan:
      if (is_signalling(a)) flags |= kInvalid;
      return kCanonicalNan<std::uint64_t>;
    case Kind::infinity:
      return soft::signed_bits(x.negative, kInfinity<std::uint64_t>);
    case Kind::zero:
      return soft::signed_bits<std::uint64_t>(x.negative, 0);
    default:
      return soft::pack<std::uint64_t>(x, Rounding::nearest_even, flags);
  }
}

#define LACUNA_RV64_CONVERT(Bits, Integer)                              \
  template Integer to_integer<Integer>(Bits, Rounding, std::uint64_t&); \
  template Bits from_integer<Bits>(Integer, Rounding, std::uint64_t&);
LACUNA_RV64_CONVERT(std::uint32_t, std::int32_t)
LACUNA_RV64_CONVERT(std::uint32_t, std::uint32_t)
LACUNA_RV64_CONVERT(std::uint32_t, std::int64_t)
LACUNA_RV64_CONVERT(std::uint32_t, std::uint64_t)
LACUNA_RV64_CONVERT(std::uint64_t, std::int32_t)
LACUNA_RV64_CONVERT(std::uint64_t, std::uint32_t)
LACUNA_RV64_CONVERT(std::uint64_t, std::int64_t)
LACUNA_RV64_CONVERT(std::uint64_t, std::uint64_t)
#undef LACUNA_RV64_CONVERT

}  // namespace lacuna::rv64
