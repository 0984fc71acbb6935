// Multiply-add operations: separate roundings (mad, mac) and fused (fma).
#pragma once

#include <bit>
#include <cstdint>

#include "models/isa/vector/valu_half.h"
#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

/// Legacy multiplication: zero times anything is zero, even infinity or NaN.
struct MultiplyLegacy {
  float operator()(float a, float b) const { return a == 0 || b == 0 ? 0 : a * b; }
};
struct MultiplyAddLegacy {
  static constexpr FpMode kFpMode = FpMode::f32_flushed;
  static constexpr bool kZeroSilences = true;
  float operator()(float a, float b, float c) const { return MultiplyLegacy{}(a, b) + c; }
};

/// Product and sum are rounded separately. Contraction is off for the whole build. V_MAD_F32 and V_MAC_F32 flush denormals
/// regardless of MODE (LLVM, SITargetLowering::isFMADLegal: they are used only where denormals are flushed anyway).
struct MultiplyAdd {
  static constexpr FpMode kFpMode = FpMode::f32_flushed;
  float operator()(float a, float b, float c) const { return a * b + c; }
};

/// Product and sum are both rounded to f16. A denormal product is a result of the multiplication and an input of the addition.
struct MultiplyAddF16 {
  float operator()(const LaneContext& context, float a, float b, float c) const {
    const bool flush = flushes_results(context.fp) || flushes_inputs(context.fp);
    const float product = half_to_float(round_to_half(static_cast<double>(a * b), rounding_of(context.fp), flush));
    return product + c;
  }
};

struct FusedMultiplyAdd {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};

/// The product is exact in double. The sum is not always exact (2^-48 to 2^31 is more than 53 bits), but if it is rounded, the
/// smaller part is below 2^-30 of the larger, and the larger is not an f16 tie: rounding again to f16 gives the fused result.
/// The sum is first rounded to f32 to odd, which a later rounding to fewer bits cannot distinguish from the sum itself.
struct FusedMultiplyAddF16 {
  float operator()(float a, float b, float c) const {
    const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;  // the significand's bits that f32 does not have
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    const std::uint64_t odd = (bits & ~kLost) | ((bits & kLost) != 0 ? kLost + 1 : 0);
    return static_cast<float>(std::bit_cast<double>(odd));
  }
};

}  // namespace lacuna::isa
