// Element types of buffers and scalars: names, sizes, conversion between bytes and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "platform/launch/expression.h"

namespace lacuna {

enum class ElementType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

std::string_view element_type_name(ElementType type);
unsigned element_size(ElementType type);
bool is_floating(ElementType type);
bool is_signed(ElementType type);
/// Parses "f32", "i8", …; nullopt for an unknown name.
std::optional<ElementType> parse_element_type(std::string_view name);
/// Like parse_element_type(), but throws LaunchError with the nearest name.
ElementType require_element_type(std::string_view name);
/// The element type of a source type such as "float*", "const uint", "double4*"; nullopt if it is not a plain type.
std::optional<ElementType> element_type_of_source(std::string_view type_name);

/// Conversions of double to the bits of f16 and bf16, rounded to nearest even (overflow yields infinity), and of f16 to double.
std::uint16_t to_half(double value);
std::uint16_t to_bfloat16(double value);
double from_half(std::uint16_t bits);

/// Stores a number as little-endian bytes. Throws LaunchError if an integer type cannot represent it.
void store_element(ElementType type, const Number& value, std::byte* to);
/// The element as a number; 64-bit integers are exact.
Number load_element(ElementType type, const std::byte* from);
/// Position of a floating-point value among all values of its type: neighbours differ by one, both zeros are 0. NaNs lie
/// beyond the infinities.
std::int64_t float_position(ElementType type, const std::byte* from);
/// The element as text, with enough digits to distinguish neighbouring values.
std::string element_text(ElementType type, const std::byte* from);

}  // namespace lacuna
