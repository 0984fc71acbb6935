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
  unsigned width = 1;  ///< elements; one of kWidths

  [[nodiscard]] bool operator==(const Type&) const = default;
  [[nodiscard]] bool is_float() const { return scalar >= Scalar::float_; }
  [[nodiscard]] bool is_integer() const { return !is_float(); }
  [[nodiscard]] bool is_signed() const { return is_integer() && static_cast<unsigned>(scalar) % 2 == 0; }
  [[nodiscard]] bool is_vector() const { return width > 1; }
  [[nodiscard]] unsigned element_bytes() const;
  /// As in memory: a vector of three takes the room of four.
  [[nodiscard]] unsigned bytes() const { return element_bytes() * (width == 3 ? 4 : width); }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Type element() const { return {scalar, 1}; }
  [[nodiscard]] Type with_width(unsigned elements) const { return {scalar, elements}; }
};

/// The integer type of so many bytes an element.
[[nodiscard]] Type integer_type(unsigned element_bytes, bool is_signed, unsigned width);

/// Same shape and element size as `type`, of integers.
[[nodiscard]] Type signed_like(Type type);
[[nodiscard]] Type unsigned_like(Type type);

/// What a comparison of two values of `type` gives: int for scalars, integers of the same size for vectors.
[[nodiscard]] Type mask_of(Type type);

/// Elements of half the size, if there are.
[[nodiscard]] std::optional<Type> narrowed(Type type);

inline constexpr Type kInt{Scalar::int_, 1};
inline constexpr Type kUint{Scalar::uint, 1};

}  // namespace lacuna::programs
