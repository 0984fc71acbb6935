// Floating-point operations on bit patterns, exact and without host arithmetic: minimum, maximum, classes, exponents.
#pragma once

#include <bit>
#include <cstdint>

#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

/// Layout of an IEEE format in an unsigned integer.
template <class Bits>
struct FloatLayout;
template <>
struct FloatLayout<std::uint16_t> {
  using Signed = std::int16_t;
  static constexpr int kFraction = 10, kBias = 15;
};
template <>
struct FloatLayout<std::uint32_t> {
  using Signed = std::int32_t;
  static constexpr int kFraction = 23, kBias = 127;
};
template <>
struct FloatLayout<std::uint64_t> {
  using Signed = std::int64_t;
  static constexpr int kFraction = 52, kBias = 1023;
};

template <class Bits>
struct FloatBits {
  using Layout = FloatLayout<Bits>;
  using Signed = typename Layout::Signed;
  static constexpr int kWidth = 8 * sizeof(Bits);
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kWidth - 1));
  static constexpr Bits kMagnitude = static_cast<Bits>(~kSign);
  static constexpr Bits kImplicit = static_cast<Bits>(Bits{1} << Layout::kFraction);
  static constexpr Bits kFractionMask = static_cast<Bits>(kImplicit - 1);
  static constexpr Bits kInfinity = static_cast<Bits>(kMagnitude & ~kFractionMask);
  static constexpr Bits kQuiet = static_cast<Bits>(kImplicit >> 1);

  static constexpr Bits magnitude(Bits v) { return static_cast<Bits>(v & kMagnitude); }
  static constexpr bool negative(Bits v) { return (v & kSign) != 0; }
  static constexpr bool nan(Bits v) { return magnitude(v) > kInfinity; }
  static constexpr bool signaling(Bits v) { return nan(v) & ((v & kQuiet) == 0); }
  static constexpr bool infinite(Bits v) { return magnitude(v) == kInfinity; }
  static constexpr bool tiny(Bits v) { return magnitude(v) < kImplicit; }  ///< zero or denormal
  static constexpr bool zero(Bits v) { return magnitude(v) == 0; }
  static constexpr bool denormal(Bits v) { return magnitude(v) < kImplicit && !zero(v); }
  static constexpr Bits quieted(Bits v) { return static_cast<Bits>(v | kQuiet); }
  static constexpr int biased_exponent(Bits v) { return static_cast<int>(magnitude(v) >> Layout::kFraction); }
  /// Maps floats to signed integers of the same order, with -0 below +0.
  static constexpr Signed order(Bits v) { return static_cast<Signed>(negative(v) ? v ^ kMagnitude : v); }
  static constexpr Bits flushed(Bits v) { return magnitude(v) < kImplicit ? static_cast<Bits>(v & kSign) : v; }
};

template <class Bits>
constexpr bool keeps_denormal_inputs(Mode mode) {
  return sizeof(Bits) == 4 ? mode.denorm_in_f32() : mode.denorm_in_f64_f16();
}

/// Whether MODE keeps denormals of both inputs and results, for operations that may return an input unchanged.
template <class Bits>
constexpr bool keeps_denormals(Mode mode) {
  return keeps_denormal_inputs<Bits>(mode) & (sizeof(Bits) == 4 ? mode.denorm_out_f32() : mode.denorm_out_f64_f16());
}

/// V_MIN/V_MAX (Vega ISA manual, V_MIN_F32, V_MAX_F32): in IEEE mode a signalling NaN is the result, quieted; otherwise, if one
/// operand is a NaN, the other operand is the result. -0 is less than +0. gfx8 never flushes denormals here, gfx9 flushes them
/// according to MODE (LLVM, AMDGPU subtarget feature "min/max denormal modes").
template <class Bits, bool kMaximum>
struct Extreme {
  static constexpr bool kLogic = true;  ///< see timed_by()
  using F = FloatBits<Bits>;

  /// Simpler version for operands that are not NaN and need no flushing of denormals.
  struct Numbers {
    static constexpr bool applies(const LaneContext& context) {
      return !context.flushes_minmax || keeps_denormals<Bits>(context.mode);
    }
    static constexpr bool nan(Bits v) { return F::nan(v); }
    constexpr Bits operator()(Bits a, Bits b) const {
      return kMaximum ? (F::order(a) > F::order(b) ? a : b) : (F::order(a) < F::order(b) ? a : b);
    }
    constexpr Bits operator()(Bits a, Bits b, Bits c) const { return (*this)((*this)(a, b), c); }
  };

  // Without short-circuit operators: the conditions become vector masks.
  static constexpr Bits of(const LaneContext& context, Bits a, Bits b) {
    const bool flush = context.flushes_minmax & !keeps_denormals<Bits>(context.mode);
    a = flush & F::tiny(a) ? static_cast<Bits>(a & F::kSign) : a;
    b = flush & F::tiny(b) ? static_cast<Bits>(b & F::kSign) : b;
    const Bits first = Numbers{}(a, b);
    const Bits number = F::nan(a) ? b : F::nan(b) ? a : first;
    const bool ieee = context.mode.ieee();
    return ieee & F::signaling(a) ? F::quieted(a) : ieee & F::signaling(b) ? F::quieted(b) : number;
  }
  constexpr Bits operator()(const LaneContext& context, Bits a, Bits b) const { return of(context, a, b); }
  constexpr Bits operator()(const LaneContext& context, Bits a, Bits b, Bits c) const {
    return of(context, of(context, a, b), c);
  }
};

/// V_MED3: the median; if an operand is a NaN, the minimum of the three.
template <class Bits>
struct Median {
  static constexpr bool kLogic = true;
  using F = FloatBits<Bits>;
  constexpr Bits operator()(const LaneContext& context, Bits a, Bits b, Bits c) const {
    using Min = Extreme<Bits, false>;
    using Max = Extreme<Bits, true>;
    if (F::nan(a) || F::nan(b) || F::nan(c)) return Min{}(context, a, b, c);
    return Max::of(context, Min::of(context, a, b), Min::of(context, Max::of(context, a, b), c));
  }
};

/// V_CMP_CLASS: bit i of `classes` selects class i: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0,
/// +denormal, +normal, +infinity.
template <class Bits>
struct IsOfClass {
  using F = FloatBits<Bits>;
  constexpr bool operator()(Bits v, std::uint32_t classes) const {
    const unsigned magnitude = F::infinite(v) ? 0 : F::zero(v) ? 3 : F::denormal(v) ? 2 : 1;
    const unsigned number = F::negative(v) ? 2 + magnitude : 9 - magnitude;
    const unsigned which = F::signaling(v) ? 0 : F::nan(v) ? 1 : number;
    return ((classes >> which) & 1) != 0;
  }
};

/// A finite non-zero value as a significand in [0.5, 1) and an exponent.
template <class Bits>
struct Frexp {
  using F = FloatBits<Bits>;
  Bits significand;
  int exponent;

  static constexpr Frexp of(Bits v) {
    constexpr int kFraction = F::Layout::kFraction;
    const Bits sign = static_cast<Bits>(v & F::kSign);
    Bits magnitude = F::magnitude(v);
    int exponent = F::biased_exponent(v);
    if (exponent == 0) {
      const int shift = std::countl_zero(magnitude) - (F::kWidth - 1 - kFraction);
      magnitude = static_cast<Bits>(magnitude << shift);
      exponent = 1 - shift;
    }
    const Bits half = static_cast<Bits>(static_cast<Bits>(F::Layout::kBias - 1) << kFraction);
    return {static_cast<Bits>(sign | half | (magnitude & F::kFractionMask)), exponent - (F::Layout::kBias - 1)};
  }
};

template <class Bits>
constexpr Bits flushed_input(const LaneContext& context, Bits v) {
  return keeps_denormal_inputs<Bits>(context.mode) ? v : FloatBits<Bits>::flushed(v);
}

/// V_FREXP_MANT: zeros, infinities and NaNs (quieted) are unchanged.
template <class Bits>
struct FrexpSignificand {
  using F = FloatBits<Bits>;
  constexpr Bits operator()(const LaneContext& context, Bits v) const {
    v = flushed_input(context, v);
    if (F::nan(v)) return F::quieted(v);
    return F::zero(v) || F::infinite(v) ? v : Frexp<Bits>::of(v).significand;
  }
};

/// V_FREXP_EXP: 0 for zeros, infinities and NaNs.
template <class Bits>
struct FrexpExponent {
  using F = FloatBits<Bits>;
  constexpr int operator()(const LaneContext& context, Bits v) const {
    v = flushed_input(context, v);
    return F::nan(v) || F::infinite(v) || F::zero(v) ? 0 : Frexp<Bits>::of(v).exponent;
  }
};

}  // namespace lacuna::isa
