// The steps of a correctly rounded division, and the argument reduction of sine and cosine of f64.
//
// v_div_scale, v_div_fmas and v_div_fixup bracket a Newton-Raphson iteration that compilers emit: they scale operands away from
// overflow and denormals, undo the scaling with the last fused multiply-add, and insert the special cases. Sources: GCN3 and
// Vega ISA manuals, V_DIV_*; for the post-scale, V_DIV_FMAS of the RDNA3 manual, since the other manuals do not specify it
// (2^32 of V_DIV_FMAS_F32 does not undo ldexp(.., 64)). tests/isa/vector/vop_division_test.cpp divides with the whole sequence.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "models/isa/vector/valu_float.h"

namespace lacuna::isa {

template <class Bits>
struct DivisionFormat;
template <>
struct DivisionFormat<std::uint16_t> {
  static constexpr int kUnderflow = -1000;  // below all exponents: f16 has no underflow check
};
template <>
struct DivisionFormat<std::uint32_t> {
  using Float = float;
  static constexpr int kFar = 96, kTinyNumerator = 23, kUnderflow = -150;
  static constexpr float kScaleUp = 0x1p64F, kScaleDown = 0x1p-64F;
  static constexpr float kDenormalUnit = 0x1p-85F;  // the smallest denormal, scaled up
};
template <>
struct DivisionFormat<std::uint64_t> {
  using Float = double;
  static constexpr int kFar = 768, kTinyNumerator = 53, kUnderflow = -1075;
  static constexpr double kScaleUp = 0x1p128, kScaleDown = 0x1p-128;
  static constexpr double kDenormalUnit = 0x1p-946;
};

/// V_DIV_SCALE: `value` repeats the denominator or the numerator; the flag makes v_div_fmas scale the quotient back.
template <class Bits>
struct DivisionScale {
  static constexpr FpMode kFpMode = FpMode::nearest;  // scaling is exact
  using F = FloatBits<Bits>;
  using D = DivisionFormat<Bits>;
  using Float = typename D::Float;

  Bits operator()(const LaneContext& context, Bits value, Bits denominator, Bits numerator, bool& flag) const {
    value = flushed_input(context, value);
    denominator = flushed_input(context, denominator);
    numerator = flushed_input(context, numerator);
    flag = false;
    if (F::zero(denominator) || F::zero(numerator)) return static_cast<Bits>(F::kSign | F::kInfinity | F::kQuiet);
    const bool is_denominator = value == denominator;
    const bool is_numerator = value == numerator;
    const bool tiny_reciprocal = quotient_is_denormal(one(), denominator);
    const bool tiny_quotient = quotient_is_denormal(numerator, denominator);
    if (F::biased_exponent(numerator) - F::biased_exponent(denominator) >= D::kFar) {
      flag = true;
      return is_denominator ? up(value) : value;
    }
    if (F::denormal(denominator)) return up(value);
    flag = tiny_quotient;
    // According to the manuals, this case scales up by 2^64 (2^128) like the cases above. The large denominator would overflow,
    // so scaling down is assumed.
    if (tiny_reciprocal && tiny_quotient) return is_denominator ? down(value) : value;
    if (tiny_reciprocal) return down(value);
    if (tiny_quotient) return is_numerator ? up(value) : value;
    if (F::biased_exponent(numerator) <= D::kTinyNumerator) return up(value);
    return value;
  }

 private:
  static constexpr Bits one() { return static_cast<Bits>(Bits{F::Layout::kBias} << F::Layout::kFraction); }
  static Bits up(Bits v) { return std::bit_cast<Bits>(std::bit_cast<Float>(v) * D::kScaleUp); }
  static Bits down(Bits v) { return std::bit_cast<Bits>(std::bit_cast<Float>(v) * D::kScaleDown); }

  // Whether the quotient, before rounding, has an exponent below that of the smallest normal number.
  static bool quotient_is_denormal(Bits numerator, Bits denominator) {
    if (!finite(numerator) || !finite(denominator)) return false;
    const auto n = Frexp<Bits>::of(F::magnitude(numerator));
    const auto d = Frexp<Bits>::of(F::magnitude(denominator));
    return n.exponent - d.exponent - (n.significand < d.significand ? 1 : 0) < 1 - F::Layout::kBias;
  }
  static bool finite(Bits v) { return F::magnitude(v) < F::kInfinity; }
};

namespace detail {

/// Number with the sign of a * b + c - s, where s is the float nearest to a * b + c (Boldo and Muller, "Exact and approximated
/// error of the FMA", 2011).
inline double fma_residue(float a, float b, float c, float s) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double sum = product + static_cast<double>(c);
  const double part = sum - product;
  const double error = (product - (sum - part)) + (static_cast<double>(c) - part);
  return (sum - static_cast<double>(s)) + error;
}
inline double two_sum(double a, double b, double& error) {
  const double sum = a + b;
  const double part = sum - a;
  error = (a - (sum - part)) + (b - part);
  return sum;
}
inline double fma_residue(double a, double b, double c, double s) {
  const double product = a * b;
  const double product_error = __builtin_fma(a, b, -product);
  double low = 0;
  double high_error = 0;
  const double middle = two_sum(c, product_error, low);
  const double high = two_sum(product, middle, high_error);
  return ((high - s) + high_error) + low;
}

}  // namespace detail

/// V_DIV_FMAS: fused multiply-add, scaled back where v_div_scale's flag (VCC) is set, with one rounding.
template <class Bits>
struct DivisionFusedMultiplyAdd {
  using F = FloatBits<Bits>;
  using D = DivisionFormat<Bits>;
  using Float = typename D::Float;

  Float operator()(const LaneContext& context, Float a, Float b, Float c, bool scaled) const {
    const Float sum = fused(a, b, c);
    if (!scaled) return sum;
    if (F::biased_exponent(std::bit_cast<Bits>(c)) > F::Layout::kBias) return sum * D::kScaleUp;
    const Float down = sum * D::kScaleDown;
    const bool rounded_twice =
        rounding_of(context.fp) == 0 && !flushes_results(context.fp) && F::magnitude(std::bit_cast<Bits>(down)) <= F::kImplicit;
    return rounded_twice ? settle_tie(a, b, c, sum, down) : down;
  }

 private:
  static float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

  // Rounding `sum` to a denormal (or up to the smallest normal) is wrong if `sum` is a tie but the exact sum is not.
  static Float settle_tie(Float a, Float b, Float c, Float sum, Float down) {
    const Bits bits = std::bit_cast<Bits>(down);
    const Float rest = sum - scaled_up(bits);
    if (rest == 0) return down;
    const bool outward = (rest > 0) == (sum > 0);
    const Bits other = static_cast<Bits>(outward ? bits + 1 : bits - 1);
    if (scaled_up(other) - sum != rest) return down;
    const double residue = detail::fma_residue(a, b, c, sum);
    return residue != 0 && (residue > 0) == (rest > 0) ? std::bit_cast<Float>(other) : down;
  }
  // Scales up a denormal or the smallest normal by converting its bits as an integer, since the host may flush denormal
  // operands.
  static Float scaled_up(Bits v) {
    const Float magnitude = static_cast<Float>(F::magnitude(v)) * D::kDenormalUnit;
    return F::negative(v) ? -magnitude : magnitude;
  }
};

/// V_DIV_FIXUP: the quotient, or the result of IEEE 754 for special operands.
template <class Bits>
struct DivisionFixup {
  using F = FloatBits<Bits>;
  constexpr Bits operator()(const LaneContext& context, Bits quotient, Bits denominator, Bits numerator) const {
    const Bits d = flushed_input(context, denominator);
    const Bits n = flushed_input(context, numerator);
    const Bits sign = static_cast<Bits>((d ^ n) & F::kSign);
    if (F::nan(n)) return F::quieted(n);
    if (F::nan(d)) return F::quieted(d);
    if ((F::zero(d) && F::zero(n)) || (F::infinite(d) && F::infinite(n))) {
      return static_cast<Bits>(F::kSign | F::kInfinity | F::kQuiet);
    }
    if (F::zero(d) || F::infinite(n)) return static_cast<Bits>(sign | F::kInfinity);
    if (F::infinite(d) || F::zero(n)) return sign;
    if (F::biased_exponent(n) - F::biased_exponent(d) < DivisionFormat<Bits>::kUnderflow) {
      const unsigned rounding = rounding_mode(context.mode);
      const bool keeps = sizeof(Bits) == 4 ? context.mode.denorm_out_f32() : context.mode.denorm_out_f64_f16();
      const bool away = keeps && ((rounding == 1 && sign == 0) || (rounding == 2 && sign != 0));
      return static_cast<Bits>(sign | (away ? 1 : 0));
    }
    // A quotient that overflows makes the iteration subtract infinities (CLRX documentation, V_DIV_FIXUP_F32: a NaN gives
    // infinity).
    if (F::nan(quotient)) {
      const unsigned rounding = rounding_mode(context.mode);
      const bool to_infinity = rounding == 0 || (rounding == 1 && sign == 0) || (rounding == 2 && sign != 0);
      return static_cast<Bits>(sign | (to_infinity ? F::kInfinity : F::kInfinity - 1));
    }
    return static_cast<Bits>(sign | F::magnitude(quotient));
  }

 private:
  static constexpr unsigned rounding_mode(Mode mode) { return sizeof(Bits) == 4 ? mode.round_f32() : mode.round_f64_f16(); }
};

/// V_TRIG_PREOP_F64: 53 bits of 2/pi, chosen by the exponent of the argument and a segment (Vega and RDNA3 ISA manuals).
struct TrigonometricPreparation {
  // The first 1216 fraction bits of 2/pi, of which the instruction uses 1201.
  static constexpr std::array<std::uint64_t, 19> kTwoOverPi{0xa2f9836e4e441529,
                                                            0xfc2757d1f534ddc0,
                                                            0xdb6295993c439041,
                                                            0xfe5163abdebbc561,
                                                            0xb7246e3a424dd2e0,
                                                            0x06492eea09d1921c,
                                                            0xfe1deb1cb129a73e,
                                                            0xe88235f52ebb4484,
                                                            0xe99c7026b45f7e41,
                                                            0x3991d639835339f4,
                                                            0x9c845f8bbdf9283b,
                                                            0x1ff897ffde05980f,
                                                            0xef2f118b5a0a6d1f,
                                                            0x6d367ecf27cb09b7,
                                                            0x4f463f669e5fea2d,
                                                            0x7527bac7ebe5f17b,
                                                            0x3d0739f78a5292ea,
                                                            0x6bfb5fb11f8d5d08,
                                                            0x56033046fc7b6bab & ~((std::uint64_t{1} << 15) - 1)};

  static constexpr std::uint64_t word(unsigned index) { return index < kTwoOverPi.size() ? kTwoOverPi[index] : 0; }

  double operator()(std::uint64_t argument, std::uint32_t segment) const {
    const int exponent = FloatBits<std::uint64_t>::biased_exponent(argument);
    const int shift = static_cast<int>(segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    const auto index = static_cast<unsigned>(shift) / 64;
    const unsigned bit = static_cast<unsigned>(shift) % 64;
    const std::uint64_t window = bit == 0 ? word(index) : word(index) << bit | word(index + 1) >> (64 - bit);
    const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    return scale_by(static_cast<double>(window >> 11), scale);
  }

 private:
  // Exact unless the result is a denormal.
  static double scale_by(double value, int exponent) {
    for (; exponent < -1000; exponent += 1000) value *= 0x1p-1000;
    return value * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
};

}  // namespace lacuna::isa
