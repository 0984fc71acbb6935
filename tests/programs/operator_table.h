// Every operator, built-in function and conversion that random expressions use. Each row is an operator; a letter per operand
// specifies how the operand's type is derived from the result's type.
#pragma once

#include <cstdint>
#include <span>

#include "opencl_type.h"

namespace lacuna::programs {

/// Sets of result types: a type is in a set if the set contains its kind, its shape and its element size.
namespace results {
inline constexpr unsigned kSigned = 1U << 0U;
inline constexpr unsigned kUnsigned = 1U << 1U;
inline constexpr unsigned kFloat = 1U << 2U;
inline constexpr unsigned kScalar = 1U << 3U;
inline constexpr unsigned kVector = 1U << 4U;
inline constexpr unsigned k8 = 1U << 5U;
inline constexpr unsigned k16 = 1U << 6U;
inline constexpr unsigned k32 = 1U << 7U;
inline constexpr unsigned k64 = 1U << 8U;
inline constexpr unsigned kAnyShape = kScalar | kVector;
inline constexpr unsigned kAnySize = k8 | k16 | k32 | k64;
inline constexpr unsigned kIntegers = kSigned | kUnsigned | kAnyShape | kAnySize;
inline constexpr unsigned kFloats = kFloat | kAnyShape | kAnySize;
}  // namespace results

[[nodiscard]] bool in_set(Type type, unsigned set);

/// `text` has the operands as `{0}`, `{1}`, ... and may have
///   <T> <U>  the result's type, the same unsigned
///   <P>      the unsigned type that arithmetic of the result's type is done in (narrow scalars are promoted)
///   <R>      a rounding mode's suffix, or nothing
///   <c>      a component of operand 0
///   <q>      a swizzle with the result's width
///   <k>      a constant from 1 to the number of an element's bits - 1
/// `operands` has a letter for the type of each operand:
///   T U S E  the result's type, the same unsigned, the same signed, its element
///   N n  elements of half the size: N signed if the result is, n unsigned
///   P  U, if the vector's length is a power of two
///   M  any vector of signed integers
///   I  int                     J  int with the result's width
///   C  condition: int for scalars, mask for vectors (same size of element, signed)
///   A  any integer type of this width      F  any float type of this width
///   K  any type whose comparison gives the result's type; k  the same, floats only; all K's and k's of a row are the same type
///   X  any integer type of the same size   Y  any float type of the same size
///   V  any vector with this element        L  half as many elements   D  twice as many elements
struct OperatorRow {
  const char* text;
  const char* operands;
  unsigned results;
  unsigned weight;
};

[[nodiscard]] std::span<const OperatorRow> operator_table();

}  // namespace lacuna::programs
