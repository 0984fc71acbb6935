// IEEE binary16 in integer arithmetic: the same bits on every host, in every rounding mode.
#pragma once

#include <bit>
#include <cstdint>

namespace lacuna::isa {

/// Exact. NaNs keep sign and payload and are quieted.
inline float half_to_float(std::uint32_t half) {
  const std::uint32_t magnitude = half & 0x7fff;
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const std::uint32_t special = 0x7f800000U | (magnitude << 13) | (magnitude > 0x7c00 ? 0x00400000U : 0U);
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
  const std::uint32_t bits = magnitude >= 0x7c00 ? special : magnitude >= 0x400 ? normal : tiny;
  return std::bit_cast<float>(sign | bits);
}

/// Rounds a double to binary16; any NaN becomes 0x7e00. `rounding` as MODE encodes it: 0 nearest even, 1 +inf, 2 -inf, 3 zero.
inline std::uint32_t round_to_half(double value, unsigned rounding, bool flush_denormals) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63);
  const auto biased = static_cast<std::int32_t>((bits >> 52) & 0x7ff);
  const std::int32_t exponent = biased - 1023;
  // Below 2^-14 the unit in the last place stays 2^-24: more bits are dropped. 2^-26 and less only leave a sticky bit.
  const std::int32_t below = exponent < -14 ? -14 - exponent : 0;
  const std::int32_t dropped = below < 12 ? 42 + below : 54;
  const std::uint64_t significand = (bits & 0x000fffffffffffffULL) | (biased != 0 ? 0x0010000000000000ULL : 0ULL);
  const std::uint64_t kept = significand >> dropped;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const bool nearest_up = rest > half || (rest == half && (kept & 1) != 0);
  const bool directed_up = rest != 0 && ((rounding == 1 && sign == 0) || (rounding == 2 && sign != 0));
  const bool up = rounding == 0 ? nearest_up : directed_up;
  const std::int32_t base = exponent < -14 ? 0 : (exponent > 16 ? 31 : exponent + 14);
  std::uint32_t magnitude = (static_cast<std::uint32_t>(base) << 10) + static_cast<std::uint32_t>(kept) + (up ? 1U : 0U);
  const bool to_infinity = biased == 0x7ff || rounding == 0 || (rounding == 1 && sign == 0) || (rounding == 2 && sign != 0);
  if (magnitude >= 0x7c00) magnitude = to_infinity ? 0x7c00 : 0x7bff;
  if (flush_denormals && magnitude < 0x400) magnitude = 0;
  const bool nan = (bits & 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL;
  return nan ? 0x7e00 : sign << 15 | magnitude;
}

}  // namespace lacuna::isa
