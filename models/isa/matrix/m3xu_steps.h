// The dot-product unit of M3XU, step by step: a unit for low-precision floats that multiplies wider ones in several steps.
//
// Source: "Tensor processors" thesis, chapter 2 (sections 2.3 and 2.4, Figs. 2.3 and 2.4; FP64: section 2.6.4). Each step, the
// data-assignment stage gives every multiplier two buffer entries: sign, exponent and a part of the significand, the hidden one
// included. Step 1 multiplies parts of the same significance (H x H, L x L), further steps swap (with more than two parts:
// rotate) those of B. Shifts put the partial products in their places, and a register adds them up before they are rounded.
//
// `Design` has what the thesis leaves open or states in a way that cannot give the exact result that it claims. kThesis has the
// numbers as they are printed, exact_design() those that a correctly rounded result takes. Executors (m3xu.h) do not go through
// the steps: they compute what exact_design() gives, and tests compare the two. docs/matrix-unit-arithmetic.md explains the
// numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace lacuna::isa::m3xu {

enum class Format { fp16, bf16, tf32, fp32, fp64 };

/// A binary float: bits of the significand with the hidden one, and of the exponent.
struct Encoding {
  unsigned precision;
  unsigned exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Exponent of the smallest normal number, which denormals share.
  int least_exponent() const { return 1 - bias(); }
};
inline constexpr Encoding kSingle{24, 8};
inline constexpr Encoding kDouble{53, 11};

/// How A and B are encoded. TF32 comes as f32: the encoding's precision is what is left of it.
Encoding input_encoding(Format format);
/// How C and D are.
Encoding result_encoding(Format format);

struct Design {
  unsigned multiplier_bits = 12;  ///< significand bits of a buffer entry
  unsigned parts = 2;  ///< entries for one number, at most kMostParts; bits of it for which there is no room are lost
  /// Shift of step 2's partial products where there are two parts; without a value, a part's width.
  std::optional<unsigned> second_step_shift{};
  /// Partial products of a number pair are first added up exactly, in a register of two numbers' width.
  bool product_register = true;
  /// Of the register that adds products and C, from the leading bit of the largest one's exponent down; carries have room
  /// above. At most 120.
  unsigned accumulator_bits = 51;
  bool sticky = true;       ///< of what is below the accumulation register, any bit makes its last one 1; else it is lost
  unsigned dot_length = 1;  ///< products that are added before the sum is rounded to the result's format
};
inline constexpr unsigned kMostParts = 5;

/// FP32 as it is printed: a shift of 16 in step 2, one register of 48 bits for the four products of a dot-product unit.
inline constexpr Design kThesis{12, 2, 16, false, 48, false, 4};

/// What executes: every product exact, added to the result with one rounding, k after k.
Design exact_design(Format format);

/// Multipliers of a dot-product unit: a 16x16x16 MFMA of halves takes one step.
inline constexpr unsigned kMultipliers = 16;
/// Steps that the products of `length` pairs of numbers take; a complex pair is four.
constexpr unsigned steps(const Design& design, unsigned length) {
  return (length * design.parts * design.parts + kMultipliers - 1) / kMultipliers;
}

struct BufferEntry {
  bool negative = false;
  int exponent = 0;  ///< the number's, without bias: that of a low part is too large by its distance from the first
  std::uint32_t significand = 0;
};
/// A number in the input buffers, its most significant part first.
struct Assigned {
  std::array<BufferEntry, kMostParts> parts;
  bool zero = false, infinite = false, nan = false;
};
Assigned assign(const Design& design, Format format, std::uint64_t bits);

__extension__ using Wide = unsigned __int128;

/// Part of B that meets part `a_part` of A in a step (from 0): swapped in step 1 of two parts, rotated with more.
constexpr unsigned b_part(const Design& design, unsigned a_part, unsigned step) { return (a_part + step) % design.parts; }
/// Left shift of a partial product, in units of the last bit of the product of the last parts.
unsigned shift(const Design& design, unsigned a_part, unsigned b_part);
/// What the multipliers add for one pair of numbers in a step: shifted and summed. Its leading bit, of 2 x parts x
/// multiplier_bits, weighs 2^(exponents' sum + 1).
Wide step_product(const Design& design, const Assigned& a, const Assigned& b, unsigned step);

/// D = C + A x B for one element; all of them bits of their formats. NaNs that result are the default NaN.
std::uint64_t dot(const Design& design, Format format, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                  std::uint64_t c);

struct Complex {
  std::uint32_t re = 0, im = 0;
  friend bool operator==(const Complex&, const Complex&) = default;
};
/// The same in FP32C, two steps for the real and two for the imaginary part. Each k adds its two products one after the other,
/// the sign of A's imaginary part flipped for the second product of the real part.
Complex dot(const Design& design, std::span<const Complex> a, std::span<const Complex> b, Complex c);

}  // namespace lacuna::isa::m3xu
