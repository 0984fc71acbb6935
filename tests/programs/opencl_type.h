// The OpenCL C types that random programs compute with: scalars and vectors of integers and floats.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace lacuna::programs {

enum class Scalar : std::uint8_t { char_, uchar, short_, ushort, int_, uint, long_, ulong, float_, double_ };

inline constexpr unsigned kScalars = 10;
inline constexpr std::array<unsigned, 6> kWidths{1, 2, 3, 4, 8, 16};

struct Type {
  Scalar scalar = Scalar::int_;
  unsigned width = 1;  ///< number of elements; one of kWidths

  [[nodiscard]] bool operator==(const Type&) const = default;
  [[nodiscard]] bool is_float() const { return scalar >= Scalar::float_; }
  [[nodiscard]] bool is_integer() const { return !is_float(); }
  [[nodiscard]] bool is_signed() const { return is_integer() && static_cast<unsigned>(scalar) % 2 == 0; }
  [[nodiscard]] bool is_vector() const { return width > 1; }
  [[nodiscard]] unsigned element_bytes() const;
  /// Size in memory: a vector of three elements takes the space of four.
  [[nodiscard]] unsigned bytes() const { return element_bytes() * (width == 3 ? 4 : width); }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Type element() const { return {scalar, 1}; }
  [[nodiscard]] Type with_width(unsigned elements) const { return {scalar, elements}; }
};

/// The integer type with elements of `element_bytes` bytes.
[[nodiscard]] Type integer_type(unsigned element_bytes, bool is_signed, unsigned width);

/// The integer type of the same shape and element size as `type`.
[[nodiscard]] Type signed_like(Type type);
[[nodiscard]] Type unsigned_like(Type type);

/// The result type of a comparison of two values of `type`: int for scalars, integers of the same size for vectors.
[[nodiscard]] Type mask_of(Type type);

/// The type with elements of half the size, if there is one.
[[nodiscard]] std::optional<Type> narrowed(Type type);

inline constexpr Type kInt{Scalar::int_, 1};
inline constexpr Type kUint{Scalar::uint, 1};

}  // namespace lacuna::programs
