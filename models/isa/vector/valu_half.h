// IEEE binary16 in integer arithmetic: the same bits on every host, in every rounding mode.
#pragma once

#include <bit>
#include <cstdint>

namespace lacuna::isa {

/// Exact conversion. NaNs keep sign and payload and are quieted.
inline float half_to_float(std::uint32_t half) {
  const std::uint32_t magnitude = half & 0x7fff;
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const std::uint32_t special = 0x7f800000U | (magnitude << 13) | (magnitude > 0x7c00 ? 0x00400000U : 0U);
  // Denormals: 2^23 + magnitude, less 2^23, in units of 2^-24. The sign of a zero result depends on the rounding mode and is
  // dropped.
  const float scaled = (std::bit_cast<float>(magnitude | 0x4b000000U) - 0x1p23F) * 0x1p-24F;
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(scaled) & 0x7fffffffU;
  const std::uint32_t bits = magnitude >= 0x7c00 ? special : magnitude >= 0x400 ? normal : tiny;
  return std::bit_cast<float>(sign | bits);
}

/// Rounds a double to binary16; any NaN becomes 0x7e00. `rounding` is encoded as in MODE: 0 nearest even, 1 +inf, 2 -inf, 3
/// zero. Without branches, so that it vectorises.
inline std::uint32_t round_to_half(double value, unsigned rounding, bool flush_denormals) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63;
  const auto biased = static_cast<std::int64_t>((bits >> 52) & 0x7ff);
  const std::int64_t exponent = biased - 1023;
  // Below 2^-14 the unit in the last place stays 2^-24, so more bits are dropped. Values of 2^-26 and less only leave a sticky
  // bit.
  const std::int64_t below = exponent < -14 ? -14 - exponent : 0;
  const auto dropped_but_half = static_cast<std::uint64_t>(below < 12 ? 41 + below : 53);
  const std::uint64_t implicit = biased != 0 ? 0x0010000000000000ULL : 0ULL;
  const std::uint64_t significand = (bits & 0x000fffffffffffffULL) | implicit;
  const std::uint64_t with_half = significand >> dropped_but_half;
  const std::uint64_t kept = with_half >> 1;
  const std::uint64_t half = with_half & 1;
  const std::uint64_t sticky = significand != with_half << dropped_but_half ? 1 : 0;
  const std::uint64_t away = rounding == 1 + sign ? 1 : 0;  // +inf for positive values, -inf for negative values
  const std::uint64_t up = rounding == 0 ? half & (sticky | kept) : away & (half | sticky);
  const std::int64_t base = exponent < -14 ? 0 : (exponent > 16 ? 31 : exponent + 14);
  const std::uint64_t rounded = (static_cast<std::uint64_t>(base) << 10) + kept + up;
  const std::uint64_t to_infinity = biased == 0x7ff || rounding == 0 ? 1 : away;
  const std::uint64_t limit = 0x7bff + to_infinity;
  const std::uint64_t finite = rounded > limit ? limit : rounded;
  const std::uint64_t flushed = flush_denormals ? 0x400 : 0;
  const std::uint64_t magnitude = finite < flushed ? 0 : finite;
  const bool nan = static_cast<std::int64_t>(bits & 0x7fffffffffffffffULL) > 0x7ff0000000000000LL;
  return static_cast<std::uint32_t>(nan ? 0x7e00 : sign << 15 | magnitude);
}

}  // namespace lacuna::isa
