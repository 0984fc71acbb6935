// The host's floating-point environment, set according to the MODE register of the running wavefront.
//
// On x86, MXCSR controls rounding and denormal flushing in hardware. Elsewhere fesetround() sets the rounding and the executors
// flush explicitly (kHostFlushesDenormals is false). One difference remains there: a result that lies below the smallest normal
// number and rounds up to it is flushed by x86 (tiny after rounding to unbounded exponent range), not by the explicit flush.
#pragma once

#include <cstdint>

#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// The fields of MODE that govern an operation.
enum class FpMode : std::uint8_t {
  none,         ///< the operation uses no host floating point
  f32,          ///< rounding and denormal mode of f32
  f64,          ///< rounding and denormal mode of f64 and f16
  f32_of_f64,   ///< v_cvt_f32_f64: rounding of f32; denormal modes of f64 for the input, of f32 for the result
  f64_of_f32,   ///< v_cvt_f64_f32, v_cvt_f16_f32: rounding of f64 and f16; denormal modes of f32 for the input, of f64 and f16
                ///< for the result
  f32_flushed,  ///< rounding of f32; denormals always flushed (reciprocal, logarithm, ...)
  nearest,      ///< round to nearest even, denormals kept
};

#if defined(__SSE2__)
inline constexpr bool kHostFlushesDenormals = true;
#else
inline constexpr bool kHostFlushesDenormals = false;
#endif

/// A rounding (MODE encoding) and two flush flags, packed: bits 1:0 rounding, 2 flush inputs, 3 flush results.
using FpSetting = std::uint32_t;
inline constexpr FpSetting kDefaultFpSetting = 0;

/// The setting for `use` under `mode`.
constexpr FpSetting fp_setting(FpMode use, Mode mode) {
  const auto setting = [](unsigned rounding, bool keep_inputs, bool keep_results) {
    return FpSetting{rounding | (keep_inputs ? 0U : 4U) | (keep_results ? 0U : 8U)};
  };
  // Setting for a 2-bit rounding field of MODE and the 2-bit denormal field of the same formats.
  const auto of_field = [](std::uint32_t roundings, std::uint32_t denormals) {
    return FpSetting{(roundings & 3) | ((~denormals & 3) << 2)};
  };
  switch (use) {
    case FpMode::f32:
      return of_field(mode.bits, mode.bits >> 4);
    case FpMode::f64:
      return of_field(mode.bits >> 2, mode.bits >> 6);
    case FpMode::f32_of_f64:
      return setting(mode.round_f32(), mode.denorm_in_f64_f16(), mode.denorm_out_f32());
    case FpMode::f64_of_f32:
      return setting(mode.round_f64_f16(), mode.denorm_in_f32(), mode.denorm_out_f64_f16());
    case FpMode::f32_flushed:
      return setting(mode.round_f32(), false, false);
    case FpMode::none:
    case FpMode::nearest:
      break;
  }
  return kDefaultFpSetting;
}

namespace detail {
inline thread_local constinit FpSetting current_fp_setting = kDefaultFpSetting;
void load_fp_setting(FpSetting setting);
}  // namespace detail

/// Sets the host's floating-point environment to `setting`. Costs only a comparison if it is already set.
inline void set_host_fp(FpSetting setting) {
  if (detail::current_fp_setting != setting) detail::load_fp_setting(setting);
}

/// Restores rounding to nearest without flushing. Call it before other host code computes in floating point: at the end of a
/// compute unit's time slice.
inline void restore_host_fp() { set_host_fp(kDefaultFpSetting); }

}  // namespace lacuna::isa
