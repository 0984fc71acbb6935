// RISC-V floating point on raw bits: IEEE 754-2008 binary32 and binary64 with all five rounding modes and exception flags,
// tininess detected after rounding, and canonical NaN results (RISC-V manual volume I, chapters 11 and 12).
//
// Arithmetic has two implementations: `soft` computes with integers and is correct on every host; the functions of this header
// use the host's SSE unit where its results and exceptions are RISC-V's, and `soft` otherwise: for rounding mode
// nearest_max_magnitude, special operands of multiply_add() and negative operands of square_root(). Tests verify that both
// implementations agree.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lacuna::rv64 {

/// Rounding modes, with the encoding of frm and of static rounding modes.
enum class Rounding : std::uint8_t { nearest_even, to_zero, down, up, nearest_max_magnitude };

/// Bits of fflags.
enum FloatFlag : std::uint8_t { kInexact = 1, kUnderflow = 2, kOverflow = 4, kDivideByZero = 8, kInvalid = 16 };

/// Integer type of a format's raw bits, uint32_t or uint64_t: template parameter of the functions below.
template <class Bits>
concept FloatBits = std::is_same_v<Bits, std::uint32_t> || std::is_same_v<Bits, std::uint64_t>;

template <FloatBits Bits>
inline constexpr unsigned kMantissaBits = sizeof(Bits) == 4 ? 23 : 52;
template <FloatBits Bits>
inline constexpr unsigned kExponentBits = sizeof(Bits) == 4 ? 8 : 11;
template <FloatBits Bits>
inline constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
template <FloatBits Bits>
inline constexpr Bits kMantissa = (Bits{1} << kMantissaBits<Bits>)-1;
template <FloatBits Bits>
inline constexpr Bits kInfinity = ((Bits{1} << kExponentBits<Bits>)-1) << kMantissaBits<Bits>;
template <FloatBits Bits>
inline constexpr Bits kQuiet = Bits{1} << (kMantissaBits<Bits> - 1);
template <FloatBits Bits>
inline constexpr Bits kCanonicalNan = kInfinity<Bits> | kQuiet<Bits>;

template <FloatBits Bits>
constexpr bool is_nan(Bits value) {
  return (value & ~kSign<Bits>) > kInfinity<Bits>;
}
template <FloatBits Bits>
constexpr bool is_signalling(Bits value) {
  return is_nan(value) && (value & kQuiet<Bits>) == 0;
}

// Arithmetic. Exceptions are added to `flags` (FloatFlag bits).
template <FloatBits Bits>
Bits add(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits subtract(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits multiply(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits divide(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits square_root(Bits a, Rounding rounding, std::uint64_t& flags);
/// a * b + c with one rounding.
template <FloatBits Bits>
Bits multiply_add(Bits a, Bits b, Bits c, Rounding rounding, std::uint64_t& flags);

// Comparison, selection, classification.
template <FloatBits Bits>
bool equal(Bits a, Bits b, std::uint64_t& flags);  ///< quiet: only a signalling NaN raises invalid
template <FloatBits Bits>
bool less(Bits a, Bits b, std::uint64_t& flags);  ///< signalling: any NaN raises invalid
template <FloatBits Bits>
bool less_or_equal(Bits a, Bits b, std::uint64_t& flags);  ///< signalling: any NaN raises invalid
/// minimumNumber and maximumNumber of IEEE 754-201x as version 2.2 of F and D requires: -0 < +0, and a NaN operand is ignored
/// if the other operand is a number.
template <FloatBits Bits>
Bits minimum(Bits a, Bits b, std::uint64_t& flags);
template <FloatBits Bits>
Bits maximum(Bits a, Bits b, std::uint64_t& flags);
/// The ten-bit result of fclass.
template <FloatBits Bits>
std::uint64_t classify(Bits a);

// Conversions. Integer results saturate: values out of range raise invalid, and NaN converts like +infinity.
template <class Integer, FloatBits Bits>
Integer to_integer(Bits a, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits, class Integer>
Bits from_integer(Integer value, Rounding rounding, std::uint64_t& flags);
std::uint32_t narrow(std::uint64_t a, Rounding rounding, std::uint64_t& flags);
std::uint64_t widen(std::uint32_t a, std::uint64_t& flags);

/// The integer implementation, for all rounding modes.
namespace soft {
template <FloatBits Bits>
Bits add(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits multiply(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits divide(Bits a, Bits b, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits square_root(Bits a, Rounding rounding, std::uint64_t& flags);
template <FloatBits Bits>
Bits multiply_add(Bits a, Bits b, Bits c, Rounding rounding, std::uint64_t& flags);
}  // namespace soft

}  // namespace lacuna::rv64
