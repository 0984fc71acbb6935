// Unpacked floating-point numbers, and the rounding step shared by arithmetic and conversions. Private to rv64_fp*.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/host/rv64/rv64_fp.h"

namespace lacuna::rv64::soft {

__extension__ using Wide = unsigned __int128;

template <FloatBits Bits>
inline constexpr int kBias = (1 << (kExponentBits<Bits> - 1)) - 1;
template <FloatBits Bits>
inline constexpr int kMinExponent = 1 - kBias<Bits>;
/// Number of significant bits, including the hidden one.
template <FloatBits Bits>
inline constexpr unsigned kPrecision = kMantissaBits<Bits> + 1;

enum class Kind : std::uint8_t { zero, finite, infinity, nan };

/// If finite and non-zero: significand has its leading one in bit 63; the magnitude is significand * 2^(exponent - 63).
struct Unpacked {
  Kind kind = Kind::zero;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;
};

/// Normalises a finite non-zero value to a leading one in bit 63; bits shifted out are ORed into bit 0 ("jammed"), which is
/// exact for rounding because both formats keep fewer than 62 bits.
inline Unpacked normalise(bool negative, int exponent, Wide significand) {
  const auto high = static_cast<std::uint64_t>(significand >> 64);
  const auto low = static_cast<std::uint64_t>(significand);
  const int zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
  const Wide shifted = significand << zeros;
  const auto top = static_cast<std::uint64_t>(shifted >> 64);
  const bool sticky = static_cast<std::uint64_t>(shifted) != 0;
  return {Kind::finite, negative, exponent - zeros, top | (sticky ? 1 : 0)};
}

template <FloatBits Bits>
Unpacked unpack(Bits bits) {
  const bool negative = (bits & kSign<Bits>) != 0;
  const auto biased = static_cast<int>((bits & kInfinity<Bits>) >> kMantissaBits<Bits>);
  const std::uint64_t mantissa = bits & kMantissa<Bits>;
  if (biased == (1 << kExponentBits<Bits>)-1) return {mantissa != 0 ? Kind::nan : Kind::infinity, negative, 0, 0};
  constexpr unsigned shift = 63 - kMantissaBits<Bits>;
  if (biased != 0) return {Kind::finite, negative, biased - kBias<Bits>, (mantissa << shift) | std::uint64_t{1} << 63};
  if (mantissa == 0) return {Kind::zero, negative, 0, 0};
  const int zeros = std::countl_zero(mantissa << shift);
  return {Kind::finite, negative, kMinExponent<Bits> - zeros, mantissa << shift << zeros};
}

/// Shifts right; bits that are shifted out are ORed into bit 0.
template <class Integer>
Integer shift_right_jam(Integer value, unsigned count) {
  constexpr unsigned width = sizeof(Integer) * 8;
  if (count == 0) return value;
  if (count >= width) return value != 0 ? Integer{1} : Integer{0};
  const Integer lost = value & ((Integer{1} << count) - 1);
  return value >> count | (lost != 0 ? Integer{1} : Integer{0});
}

/// Whether dropping `remainder` (in units of which `half` * 2 make one unit in the last place) rounds the magnitude up. `odd`:
/// the last place is odd.
inline bool rounds_away(std::uint64_t remainder, std::uint64_t half, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return remainder > half || (remainder == half && odd);
    case Rounding::nearest_max_magnitude:
      return remainder >= half;
    case Rounding::down:
      return negative && remainder != 0;
    case Rounding::up:
      return !negative && remainder != 0;
    default:
      return false;
  }
}

template <FloatBits Bits>
Bits signed_bits(bool negative, Bits magnitude) {
  return negative ? magnitude | kSign<Bits> : magnitude;
}

/// Rounds a finite value to the format.
template <FloatBits Bits>
Bits pack(const Unpacked& value, Rounding rounding, std::uint64_t& flags) {
  constexpr unsigned drop = 64 - kPrecision<Bits>;
  constexpr std::uint64_t mask = (std::uint64_t{1} << drop) - 1;
  constexpr std::uint64_t half = std::uint64_t{1} << (drop - 1);
  constexpr int max_exponent = kBias<Bits>;

  std::uint64_t significand = value.significand;
  int exponent = value.exponent;
  bool tiny = false;
  bool subnormal = false;
  if (exponent < kMinExponent<Bits>) {
    // The value is tiny unless rounding with an unbounded exponent would reach the smallest normal number.
    const std::uint64_t kept = significand >> drop;
    const bool carries = kept == (std::uint64_t{1} << kPrecision<Bits>)-1 &&
                         rounds_away(significand & mask, half, true, value.negative, rounding);
    tiny = !(exponent == kMinExponent<Bits> - 1 && carries);
    subnormal = true;
    significand = shift_right_jam(significand, static_cast<unsigned>(std::min(kMinExponent<Bits> - exponent, 64)));
    exponent = kMinExponent<Bits>;
  }

  std::uint64_t kept = significand >> drop;
  const std::uint64_t remainder = significand & mask;
  if (rounds_away(remainder, half, (kept & 1) != 0, value.negative, rounding)) ++kept;
  if (remainder != 0) flags |= kInexact;
  if (tiny && remainder != 0) flags |= kUnderflow;

  // A carry out of the significand increments the exponent field, as the IEEE encoding intends.
  const int biased = subnormal ? 0 : exponent + kBias<Bits> - 1;
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(std::max(biased, 0)) << kMantissaBits<Bits>)+kept;
  if (exponent > max_exponent || magnitude >= kInfinity<Bits>) {
    flags |= kOverflow | kInexact;
    const bool to_infinity = rounding == Rounding::nearest_even || rounding == Rounding::nearest_max_magnitude ||
                             (rounding == Rounding::up && !value.negative) || (rounding == Rounding::down && value.negative);
    return signed_bits<Bits>(value.negative, to_infinity ? kInfinity<Bits> : kInfinity<Bits> - 1);
  }
  return signed_bits<Bits>(value.negative, static_cast<Bits>(magnitude));
}

}  // namespace lacuna::rv64::soft
