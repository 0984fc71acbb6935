// Step-by-step model of the dot-product unit of M3XU, which has low-precision multipliers and multiplies wider floats in
// several steps.
//
// Source: "Tensor processors" thesis, chapter 2 (sections 2.3 and 2.4, Figs. 2.3 and 2.4; FP64: section 2.6.4). Each step, the
// data-assignment stage gives every multiplier two buffer entries: sign, exponent and a part of the significand, including the
// hidden bit. Step 1 multiplies parts of the same significance (H x H, L x L), further steps swap (with more than two parts:
// rotate) the parts of B. Shifts align the partial products, and a register accumulates them before they are rounded.
//
// `Design` contains the parameters that the thesis does not specify, and those whose printed values cannot give the exact
// result that the thesis claims. kThesis has the values as printed; exact_design() returns the values that a correctly rounded
// result requires. Executors (matrix_extensions.cpp) do not simulate the steps: they compute the result of exact_design(), and
// tests compare the two. docs/guide/matrix-unit-arithmetic.md explains the numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace lacuna::isa::m3xu {

enum class Format { fp16, bf16, tf32, fp32, fp64 };

/// A binary floating-point format: widths in bits of the significand, including the hidden bit, and of the exponent.
struct Encoding {
  unsigned precision;
  unsigned exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Exponent of the smallest normal number, which denormals share.
  int least_exponent() const { return 1 - bias(); }
};
inline constexpr Encoding kSingle{24, 8};
inline constexpr Encoding kDouble{53, 11};

/// Encoding of A and B. TF32 is stored as f32 with 13 ignored low bits, which its encoding does not count.
Encoding input_encoding(Format format);
/// Encoding of C and D.
Encoding result_encoding(Format format);

struct Design {
  unsigned multiplier_bits = 12;  ///< significand bits of a buffer entry
  unsigned parts = 2;             ///< buffer entries per number, at most kMostParts; bits that do not fit are dropped
  /// Left shift of the partial products of step 2 in designs with two parts; nullopt: the width of a part.
  std::optional<unsigned> second_step_shift{};
  /// Whether the partial products of a pair of numbers are first added exactly, in a register as wide as two significands.
  bool product_register = true;
  /// Width, in bits, of the register that adds products and C, from the leading bit of the largest exponent down; carries have
  /// additional room. At most 120.
  unsigned accumulator_bits = 51;
  bool sticky = true;       ///< any bit below the accumulation register sets its last bit; otherwise these bits are dropped
  unsigned dot_length = 1;  ///< number of products that are added before the sum is rounded to the result's format
};
inline constexpr unsigned kMostParts = 5;

/// FP32 as printed in the thesis: a shift of 16 in step 2, one register of 48 bits for the four products of a dot-product unit.
inline constexpr Design kThesis{12, 2, 16, false, 48, false, 4};

/// The design that executors compute: every product exact, added to the result with one rounding, in the order of k.
Design exact_design(Format format);

/// Number of multipliers of a dot-product unit, with which a 16x16x16 MFMA of halves takes one step.
inline constexpr unsigned kMultipliers = 16;
/// Number of steps for the products of `length` pairs of numbers; a complex pair counts as four.
constexpr unsigned steps(const Design& design, unsigned length) {
  return (length * design.parts * design.parts + kMultipliers - 1) / kMultipliers;
}

struct BufferEntry {
  bool negative = false;
  int exponent = 0;  ///< unbiased exponent of the whole number, the same for all its parts
  std::uint32_t significand = 0;
};
/// A number in the input buffers, its most significant part first.
struct Assigned {
  std::array<BufferEntry, kMostParts> parts;
  bool zero = false, infinite = false, nan = false;
};
Assigned assign(const Design& design, Format format, std::uint64_t bits);

__extension__ using Wide = unsigned __int128;

/// Part of B that is multiplied by part `a_part` of A in a step, counted from 0: each step rotates the parts of B by one (two
/// parts: swaps them).
constexpr unsigned b_part(const Design& design, unsigned a_part, unsigned step) { return (a_part + step) % design.parts; }
/// Left shift, in bits, of a partial product relative to the product of the two least significant parts.
unsigned shift(const Design& design, unsigned a_part, unsigned b_part);
/// Sum of the shifted products of one pair of numbers in a step. It has 2 x parts x multiplier_bits bits; the weight of the
/// leading bit is 2^(sum of the exponents + 1).
Wide step_product(const Design& design, const Assigned& a, const Assigned& b, unsigned step);

/// D = C + A x B for one element; arguments and result are bit patterns of their formats. A NaN result is the default NaN.
std::uint64_t dot(const Design& design, Format format, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  std::uint64_t c);

struct Complex {
  std::uint32_t re = 0, im = 0;
  friend bool operator==(const Complex&, const Complex&) = default;
};
/// D = C + A x B for one element in FP32C: two steps for the real and two for the imaginary part. Each k adds its two products
/// one after the other, with the sign of A's imaginary part flipped for the second product of the real part.
Complex dot(const Design& design, std::span<const Complex> a, std::span<const Complex> b, Complex c);

}  // namespace lacuna::isa::m3xu
