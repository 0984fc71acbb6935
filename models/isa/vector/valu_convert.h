// Conversions between number formats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

/// Converts to an integer: rounds towards zero, saturates; 0 for NaN.
template <class Integer, class Float>
constexpr Integer to_integer(Float x) {
  using Limits = std::numeric_limits<Integer>;
  // 2^31, 2^32, ...: one more than the maximum, exact in every float format that is converted here.
  constexpr Float kBound = static_cast<Float>(std::uint64_t{1} << Limits::digits);
  constexpr Float kLowest = static_cast<Float>(Limits::min());
  if (__builtin_isnan(x)) return 0;
  if (x >= kBound) return Limits::max();
  if (x <= kLowest) return Limits::min();
  return static_cast<Integer>(x);
}

// Rounding to integers keeps the sign, also of zeros. Written explicitly: without SSE4.1, compilers add and subtract a large
// number, which results in a negative zero if the host rounds down.
inline float floor_of(float x) { return __builtin_copysignf(__builtin_floorf(x), x); }
inline double floor_of(double x) { return __builtin_copysign(__builtin_floor(x), x); }
inline float ceiling_of(float x) { return __builtin_copysignf(__builtin_ceilf(x), x); }
inline double ceiling_of(double x) { return __builtin_copysign(__builtin_ceil(x), x); }
inline float truncation_of(float x) { return __builtin_copysignf(__builtin_truncf(x), x); }
inline double truncation_of(double x) { return __builtin_copysign(__builtin_trunc(x), x); }

/// Nearest integer, ties to even, in any rounding mode; -0 where a negative value becomes zero.
template <class Float>
Float round_to_even(Float x) {
  const Float below = floor_of(x);
  const Float rest = x - below;  // exact
  const bool odd = below != 2 * floor_of(below / 2);
  const Float nearest = rest > Float{0.5} || (rest == Float{0.5} && odd) ? below + 1 : below;
  return std::copysign(nearest, x);
}

/// floor(x + 1/2), where the sum is exact, and floor(x).
inline std::int32_t round_half_up(float x) { return to_integer<std::int32_t>(floor_of(static_cast<double>(x) + 0.5)); }
inline std::int32_t round_down(float x) { return to_integer<std::int32_t>(floor_of(static_cast<double>(x))); }

struct F32OfF64 {
  static constexpr FpMode kFpMode = FpMode::f32_of_f64;
  float operator()(double x) const { return static_cast<float>(x); }
};
struct F64OfF32 {
  static constexpr FpMode kFpMode = FpMode::f64_of_f32;
  double operator()(float x) const { return static_cast<double>(x); }
};
struct F16OfF32 {
  static constexpr FpMode kFpMode = FpMode::f64_of_f32;
  double operator()(float x) const { return static_cast<double>(x); }
};
struct F32OfF16 {
  static constexpr FpMode kFpMode = FpMode::f64;
  float operator()(float x) const { return x; }
};

/// Converts f32 to f16, rounded towards zero, NaNs quieted (v_cvt_pkrtz). Denormals are treated according to MODE for f16.
inline std::uint32_t half_toward_zero(const LaneContext& context, std::uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff);
  return round_to_half(static_cast<double>(std::bit_cast<float>(bits)), 3, !context.mode.denorm_out_f64_f16());
}

/// Converts f32 to an unsigned byte in the host's current rounding mode, saturating; 0 for NaN (v_cvt_pk_u8_f32).
inline std::uint32_t to_byte(float x) {
  const float rounded = __builtin_rintf(x);
  return !(rounded > 0) ? 0 : rounded >= 255 ? 255 : static_cast<std::uint32_t>(rounded);
}
constexpr std::uint32_t insert_byte(std::uint32_t word, unsigned index, std::uint32_t byte) {
  const unsigned shift = 8 * (index & 3);
  return (word & ~(0xffU << shift)) | byte << shift;
}

/// Converts a number in [-1, 1] or in [0, 1] to a 16-bit integer, rounded to nearest even; 0 for NaN (v_cvt_pknorm).
inline std::uint32_t to_snorm16(float x) {
  const double scaled = round_to_even(static_cast<double>(x) * 32767);
  if (__builtin_isnan(scaled)) return 0;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(scaled > 32767    ? 32767
                                                              : scaled < -32767 ? -32767
                                                                                : scaled)) &
         0xffff;
}
inline std::uint32_t to_unorm16(float x) {
  const double scaled = round_to_even(static_cast<double>(x) * 65535);
  return !(scaled > 0) ? 0 : static_cast<std::uint32_t>(scaled > 65535 ? 65535 : scaled);
}

}  // namespace lacuna::isa
