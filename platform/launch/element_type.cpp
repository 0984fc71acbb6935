#include "platform/launch/element_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"

namespace lacuna {
namespace {

struct TypeInfo {
  std::string_view name;
  unsigned size;
  bool floating;
  bool is_signed;
};
constexpr std::array<TypeInfo, 12> kTypes{{{"i8", 1, false, true},
                                           {"i16", 2, false, true},
                                           {"i32", 4, false, true},
                                           {"i64", 8, false, true},
                                           {"u8", 1, false, false},
                                           {"u16", 2, false, false},
                                           {"u32", 4, false, false},
                                           {"u64", 8, false, false},
                                           {"f16", 2, true, true},
                                           {"bf16", 2, true, true},
                                           {"f32", 4, true, true},
                                           {"f64", 8, true, true}}};

const TypeInfo& info(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

struct SourceType {
  std::string_view name;
  ElementType type;
};
/// Type names that clang writes to `.type_name` for OpenCL C, and type names of C.
constexpr std::array<SourceType, 18> kSourceTypes{{{"char", ElementType::i8},
                                                   {"short", ElementType::i16},
                                                   {"int", ElementType::i32},
                                                   {"long", ElementType::i64},
                                                   {"uchar", ElementType::u8},
                                                   {"ushort", ElementType::u16},
                                                   {"uint", ElementType::u32},
                                                   {"ulong", ElementType::u64},
                                                   {"signed char", ElementType::i8},
                                                   {"unsigned char", ElementType::u8},
                                                   {"unsigned short", ElementType::u16},
                                                   {"unsigned int", ElementType::u32},
                                                   {"unsigned long", ElementType::u64},
                                                   {"size_t", ElementType::u64},
                                                   {"half", ElementType::f16},
                                                   {"_Float16", ElementType::f16},
                                                   {"float", ElementType::f32},
                                                   {"double", ElementType::f64}}};

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

/// Rounds a double to nearest even, to a binary format with `mantissa` stored mantissa bits and `exponent` exponent bits. Uses
/// integer arithmetic only.
std::uint16_t round_to(double value, unsigned mantissa, unsigned exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  const auto infinity = static_cast<std::uint16_t>(((1U << exponent) - 1) << mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1U << (mantissa - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  const int unbiased = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (unbiased > bias) return static_cast<std::uint16_t>(sign | infinity);
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | (unbiased == -1023 ? 0 : std::uint64_t{1} << 52);
  // Below the normal range, the unit in the last place is that of the smallest normal number.
  const int below = std::max(0, 1 - bias - unbiased);
  const int dropped = std::min(52 - static_cast<int>(mantissa) + below, 63);
  std::uint64_t kept = significand >> dropped;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The leading 1 of a normal number increments the exponent field, as does a carry from rounding.
  const std::uint64_t magnitude = below > 0 ? kept : (static_cast<std::uint64_t>(unbiased + bias - 1) << mantissa) + kept;
  return static_cast<std::uint16_t>(sign | std::min<std::uint64_t>(magnitude, infinity));
}

}  // namespace

std::string_view element_type_name(ElementType type) { return info(type).name; }
unsigned element_size(ElementType type) { return info(type).size; }
bool is_floating(ElementType type) { return info(type).floating; }
bool is_signed(ElementType type) { return info(type).is_signed; }

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

ElementType require_element_type(std::string_view name) {
  if (const auto type = parse_element_type(name)) return *type;
  std::vector<std::string> names;
  std::string list;
  for (const TypeInfo& type : kTypes) {
    names.emplace_back(type.name);
    list += (list.empty() ? "" : " ") + std::string(type.name);
  }
  throw LaunchError("unknown element type " + std::string(name) + did_you_mean(nearest_name(names, name)) + " (" + list + ")");
}

std::optional<ElementType> element_type_of_source(std::string_view type_name) {
  std::string name(type_name.substr(0, type_name.find('*')));
  for (const std::string_view qualifier : {"const ", "volatile ", "__global ", "__constant ", "__local "})
    if (name.starts_with(qualifier)) name.erase(0, qualifier.size());
  while (!name.empty() && (name.back() == ' ' || (name.back() >= '0' && name.back() <= '9'))) name.pop_back();
  for (const SourceType& type : kSourceTypes)
    if (type.name == name) return type.type;
  return std::nullopt;
}

std::uint16_t to_half(double value) { return round_to(value, 10, 5); }
std::uint16_t to_bfloat16(double value) { return round_to(value, 7, 8); }

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    magnitude = std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void store_element(ElementType type, const Number& value, std::byte* to) {
  switch (type) {
    case ElementType::f16:
      return store(to_half(value.as_double()), to);
    case ElementType::bf16:
      return store(to_bfloat16(value.as_double()), to);
    case ElementType::f32:
      return store(static_cast<float>(value.as_double()), to);
    case ElementType::f64:
      return store(value.as_double(), to);
    default:
      break;
  }
  const unsigned bits = 8 * info(type).size;
  const WideInteger most = (WideInteger{1} << (info(type).is_signed ? bits - 1 : bits)) - 1;
  const WideInteger least = info(type).is_signed ? -most - 1 : 0;
  const bool whole = !value.real || value.value == std::floor(value.value);
  if (!whole || (value.real && !(std::fabs(value.value) < 0x1p64)))
    throw LaunchError(number_text(value) + " is not an integer, as " + std::string(info(type).name) + " needs");
  const WideInteger integer = value.real ? static_cast<WideInteger>(value.value) : value.integer;
  if (integer < least || integer > most)
    throw LaunchError(number_text(value) + " does not fit in " + std::string(info(type).name));
  const auto low = static_cast<std::uint64_t>(integer);
  std::memcpy(to, &low, info(type).size);
}

Number load_element(ElementType type, const std::byte* from) {
  switch (type) {
    case ElementType::i8:
      return Number::of(load<std::int8_t>(from));
    case ElementType::i16:
      return Number::of(load<std::int16_t>(from));
    case ElementType::i32:
      return Number::of(load<std::int32_t>(from));
    case ElementType::i64:
      return Number::of(load<std::int64_t>(from));
    case ElementType::u8:
      return Number::of(load<std::uint8_t>(from));
    case ElementType::u16:
      return Number::of(load<std::uint16_t>(from));
    case ElementType::u32:
      return Number::of(load<std::uint32_t>(from));
    case ElementType::u64:
      return Number::of(load<std::uint64_t>(from));
    case ElementType::f16:
      return Number::of_real(from_half(load<std::uint16_t>(from)));
    case ElementType::bf16:
      return Number::of_real(std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(from)) << 16));
    case ElementType::f32:
      return Number::of_real(load<float>(from));
    case ElementType::f64:
      break;
  }
  return Number::of_real(load<double>(from));
}

std::int64_t float_position(ElementType type, const std::byte* from) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, info(type).size);
  const std::uint64_t sign = std::uint64_t{1} << (8 * info(type).size - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::string element_text(ElementType type, const std::byte* from) {
  if (type != ElementType::f32 && type != ElementType::f16 && type != ElementType::bf16)
    return number_text(load_element(type, from));
  std::array<char, 32> text{};
  const auto value = static_cast<float>(load_element(type, from).value);
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

}  // namespace lacuna
