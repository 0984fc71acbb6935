// Dot products of packed operands (CDNA2 ISA manual, V_DOT*).
#pragma once

#include <cstdint>

#include "models/isa/vector/host_fp.h"
#include "models/isa/vector/valu_half.h"
#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

/// Sum of an accumulator and the products of kBits-wide signed elements. kClamp: saturate instead of wrapping.
template <unsigned kBits, bool kClamp>
struct DotSigned {
  constexpr std::int32_t operator()(std::uint32_t a, std::uint32_t b, std::int32_t c) const {
    std::int64_t sum = c;
    for (unsigned shift = 0; shift < 32; shift += kBits) sum += std::int64_t{element(a, shift)} * element(b, shift);
    return kClamp ? saturate_i32(sum) : static_cast<std::int32_t>(sum);
  }

 private:
  static constexpr std::int32_t element(std::uint32_t word, unsigned shift) {
    return static_cast<std::int32_t>(word << (32 - kBits - shift)) >> (32 - kBits);
  }
};

template <unsigned kBits, bool kClamp>
struct DotUnsigned {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    constexpr std::uint32_t kMask = (1U << kBits) - 1;
    std::uint64_t sum = c;
    for (unsigned shift = 0; shift < 32; shift += kBits) sum += std::uint64_t{(a >> shift) & kMask} * ((b >> shift) & kMask);
    return kClamp ? saturate_u32(sum) : static_cast<std::uint32_t>(sum);
  }
};

/// V_DOT2_F32_F16: the sum of two exact products and an f32, rounded once to nearest even (LLVM review D49146: one rounding;
/// f32 denormals are always flushed, f16 denormals are treated as zero in CDNA2's matrix and dot instructions).
struct DotHalves {
  static constexpr FpMode kFpMode = FpMode::nearest;

  float operator()(std::uint32_t a, std::uint32_t b, float c) const {
    const double low = product(a & 0xffff, b & 0xffff);
    const double high = product(a >> 16, b >> 16);
    double error_of_products = 0;
    double error_of_sum = 0;
    const double products = two_sum(low, high, error_of_products);
    const double sum = two_sum(products, static_cast<double>(detail::flush(c)), error_of_sum);
    // If the large parts cancel, the result is the rounding errors of the first two sums. Infinities and NaNs are excluded.
    double error_of_errors = 0;
    double rest = 0;
    const double errors = two_sum(error_of_products, error_of_sum, error_of_errors);
    const double result = two_sum(sum, errors, rest);
    const bool lost = errors < 0 || errors > 0;
    return detail::flush(static_cast<float>(to_odd(lost ? result : sum, rest + error_of_errors)));
  }

 private:
  static double product(std::uint32_t a, std::uint32_t b) {
    return static_cast<double>(half_to_float(normal(a))) * static_cast<double>(half_to_float(normal(b)));
  }
  static std::uint32_t normal(std::uint32_t half) { return (half & 0x7c00) == 0 ? half & 0x8000 : half; }

  static double two_sum(double a, double b, double& error) {
    const double sum = a + b;
    const double part = sum - a;
    error = (a - (sum - part)) + (b - part);
    return sum;
  }

  // Rounds the sum to odd: its last bit is set if it is inexact, so that the later rounding to f32 resolves ties correctly.
  static double to_odd(double sum, double error) {
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    const bool inexact = error < 0 || error > 0;  // false for the NaN that infinities produce
    const std::uint64_t toward = (error > 0) == (sum > 0) ? bits : bits - 1;
    return inexact ? std::bit_cast<double>(toward | 1) : sum;
  }
};

}  // namespace lacuna::isa
