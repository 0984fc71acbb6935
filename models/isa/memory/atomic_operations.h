// The read-modify-write operations of DS, FLAT and MUBUF atomics. Semantics: GCN3 ISA manual, "DS instructions" and "FLAT,
// MUBUF atomics". Signature for atomic_lanes(): new value = operation(old, data, data2, wave).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "models/isa/vector/valu_half.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa::atomic {

template <typename U>
constexpr std::make_signed_t<U> as_signed(U a) {
  return static_cast<std::make_signed_t<U>>(a);
}

template <typename U>
U add(U old, U data, U, const Wavefront&) {
  return old + data;
}
template <typename U>
U sub(U old, U data, U, const Wavefront&) {
  return old - data;
}
template <typename U>
U rsub(U old, U data, U, const Wavefront&) {
  return data - old;
}
template <typename U>
U inc(U old, U data, U, const Wavefront&) {
  return old >= data ? 0 : old + 1;
}
template <typename U>
U dec(U old, U data, U, const Wavefront&) {
  return old == 0 || old > data ? data : old - 1;
}
template <typename U>
U min_signed(U old, U data, U, const Wavefront&) {
  return as_signed(data) < as_signed(old) ? data : old;
}
template <typename U>
U max_signed(U old, U data, U, const Wavefront&) {
  return as_signed(data) > as_signed(old) ? data : old;
}
template <typename U>
U min_unsigned(U old, U data, U, const Wavefront&) {
  return data < old ? data : old;
}
template <typename U>
U max_unsigned(U old, U data, U, const Wavefront&) {
  return data > old ? data : old;
}
template <typename U>
U bit_and(U old, U data, U, const Wavefront&) {
  return old & data;
}
template <typename U>
U bit_or(U old, U data, U, const Wavefront&) {
  return old | data;
}
template <typename U>
U bit_xor(U old, U data, U, const Wavefront&) {
  return old ^ data;
}
template <typename U>
U masked_or(U old, U mask, U data, const Wavefront&) {
  return (old & ~mask) | data;
}
template <typename U>
U exchange(U, U data, U, const Wavefront&) {
  return data;
}
template <typename U>
U wrap(U old, U data, U data2, const Wavefront&) {
  return old >= data ? old - data : old + data2;
}
/// DS order of operands: comparand first, new value second.
template <typename U>
U compare_store(U old, U comparand, U data, const Wavefront&) {
  return old == comparand ? data : old;
}
/// FLAT and MUBUF order: new value first, comparand second.
template <typename U>
U compare_swap(U old, U data, U comparand, const Wavefront&) {
  return old == comparand ? data : old;
}

template <typename U>
using FloatOf = std::conditional_t<sizeof(U) == 4, float, double>;
template <typename U>
FloatOf<U> as_float(U a) {
  return std::bit_cast<FloatOf<U>>(a);
}

// Comparisons with a NaN are false, so the old value remains.
template <typename U>
U min_float(U old, U data, U, const Wavefront&) {
  return as_float(data) < as_float(old) ? data : old;
}
template <typename U>
U max_float(U old, U data, U, const Wavefront&) {
  return as_float(data) > as_float(old) ? data : old;
}
template <typename U>
U compare_store_float(U old, U comparand, U data, const Wavefront&) {
  return as_float(old) == as_float(comparand) ? data : old;
}

template <typename U>
inline constexpr U kQuietBit = U{1} << (sizeof(U) == 4 ? 22 : 51);
template <typename U>
inline constexpr U kSignBit = U{1} << (sizeof(U) * 8 - 1);
template <typename U>
U flush_denormal(U a) {
  return std::fpclassify(as_float(a)) == FP_SUBNORMAL ? a & kSignBit<U> : a;
}

/// Treatment of denormals. In LDS, MODE applies; in memory, f32 denormals are always flushed and other denormals always kept
/// (CDNA2 ISA manual, "FLAT and GLOBAL float atomics").
enum class Denormals : std::uint8_t { as_mode, flushed, kept };

/// Floating-point sum, rounded to nearest even regardless of MODE. A NaN operand is returned quieted; if both operands are NaN,
/// the NaN in memory is returned.
template <typename U, Denormals kDenormals = Denormals::as_mode>
U add_float(U old, U data, U, const Wavefront& wave) {
  constexpr bool kSingle = sizeof(U) == 4;
  const auto keep = [](bool mode) { return kDenormals == Denormals::as_mode ? mode : kDenormals == Denormals::kept; };
  const bool keep_in = keep(kSingle ? wave.mode.denorm_in_f32() : wave.mode.denorm_in_f64_f16());
  const bool keep_out = keep(kSingle ? wave.mode.denorm_out_f32() : wave.mode.denorm_out_f64_f16());
  if (std::isnan(as_float(old))) return old | kQuietBit<U>;
  if (std::isnan(as_float(data))) return data | kQuietBit<U>;
  const FloatOf<U> a = as_float(keep_in ? old : flush_denormal(old));
  const FloatOf<U> b = as_float(keep_in ? data : flush_denormal(data));
  const FloatOf<U> sum = a + b;
  if (std::isnan(sum)) return kSingle ? static_cast<U>(0x7fc00000) : static_cast<U>(0x7ff8000000000000);
  const U bits = std::bit_cast<U>(sum);
  return keep_out ? bits : flush_denormal(bits);
}

/// Two f16 sums in memory, each rounded to nearest even; NaNs as in add_float().
inline std::uint32_t add_packed_f16(std::uint32_t old, std::uint32_t data, std::uint32_t, const Wavefront&) {
  const auto half = [](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
    constexpr std::uint32_t kQuiet = 0x200;
    const auto is_nan = [](std::uint32_t v) { return (v & 0x7fff) > 0x7c00; };
    if (is_nan(a)) return a | kQuiet;
    if (is_nan(b)) return b | kQuiet;
    const double sum = static_cast<double>(half_to_float(a)) + static_cast<double>(half_to_float(b));
    if (std::isnan(sum)) return 0x7e00;
    return round_to_half(sum, 0, false);
  };
  return half(old & 0xffff, data & 0xffff) | half(old >> 16, data >> 16) << 16;
}

}  // namespace lacuna::isa::atomic
