#include "models/isa/memory/buffer_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "models/isa/vector/valu_half.h"

namespace lacuna::isa {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

enum NumberFormat : unsigned { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kReserved, kFloat };

// Widths of x, y, z, w from bit 0 on, by DATA_FORMAT.
using Widths = std::array<std::uint8_t, 4>;
constexpr std::array<Widths, 16> kWidths{{{},
                                          {8},
                                          {16},
                                          {8, 8},
                                          {32},
                                          {16, 16},
                                          {11, 11, 10},     // 10_11_11
                                          {10, 11, 11},     // 11_11_10
                                          {2, 10, 10, 10},  // 10_10_10_2
                                          {10, 10, 10, 2},  // 2_10_10_10
                                          {8, 8, 8, 8},
                                          {32, 32},
                                          {16, 16, 16, 16},
                                          {32, 32, 32},
                                          {32, 32, 32, 32},
                                          {}}};

U32 bits_of(double value) { return std::bit_cast<U32>(static_cast<float>(value)); }

double signed_value(U32 raw, unsigned width) {
  const U64 sign = U64{1} << (width - 1);
  return static_cast<double>(static_cast<std::int64_t>((raw ^ sign) - sign));
}

// Unsigned floats of 10 and 11 bits have f16's exponent and fewer mantissa bits, but no sign.
unsigned small_float_shift(unsigned width) { return 15 - width; }

U32 unpack_component(U32 raw, unsigned width, unsigned number) {
  const U64 ones = (U64{1} << width) - 1;
  switch (number) {
    case kUnorm:
      return bits_of(raw / static_cast<double>(ones));
    case kSnorm:
      return bits_of(width == 1 ? 0 : std::max(-1.0, signed_value(raw, width) / static_cast<double>(ones >> 1)));
    case kUscaled:
      return bits_of(raw);
    case kSscaled:
      return bits_of(signed_value(raw, width));
    case kSint:
      return static_cast<U32>(static_cast<std::int64_t>(signed_value(raw, width)));
    case kFloat:
      if (width == 16) return std::bit_cast<U32>(half_to_float(raw));
      if (width == 10 || width == 11) return std::bit_cast<U32>(half_to_float(raw << small_float_shift(width)));
      return raw;
    default:
      return raw;
  }
}

// `value` clamped to [low, high], rounded to nearest even; NaN becomes zero.
U32 rounded(double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return static_cast<U32>(static_cast<std::int64_t>(std::nearbyint(std::clamp(value, low, high))));
}

U32 pack_component(U32 bits, unsigned width, unsigned number) {
  const auto ones = static_cast<double>((U64{1} << width) - 1);
  const auto top = static_cast<double>((U64{1} << (width - 1)) - 1);
  const double value = std::bit_cast<float>(bits);
  switch (number) {
    case kUnorm:
      return rounded(std::clamp(std::isnan(value) ? 0 : value, 0.0, 1.0) * ones, 0, ones);
    case kSnorm:
      return rounded(std::clamp(std::isnan(value) ? 0 : value, -1.0, 1.0) * top, -top, top);
    case kUscaled:
      return rounded(value, 0, ones);
    case kSscaled:
      return rounded(value, -top - 1, top);
    case kFloat:
      if (width == 16) return round_to_half(value, 0, false);
      if (width == 10 || width == 11) {
        if ((bits >> 31) != 0 && !std::isnan(value)) return 0;
        // The f16 value is rounded a second time; a carry into infinity is correct.
        const U32 half = round_to_half(value, 0, false) & 0x7fff;
        const unsigned shift = small_float_shift(width);
        if (half >= 0x7c00) return half >> shift;
        return (half + (1U << (shift - 1)) - 1 + (half >> shift & 1)) >> shift;
      }
      return bits;
    default:
      return bits;
  }
}

}  // namespace

BufferFormat BufferFormat::of_descriptor(U32 word) {
  BufferFormat format;
  for (unsigned k = 0; k < 4; ++k) format.select[k] = static_cast<std::uint8_t>(word >> (3 * k) & 7);
  format.number = word >> 12 & 7;
  format.data = word >> 15 & 15;
  return format;
}

unsigned BufferFormat::bytes() const {
  unsigned bits = 0;
  for (const unsigned width : kWidths[data & 15]) bits += width;
  return bits / 8;
}

Components BufferFormat::unpack(const std::byte* record) const {
  Components memory{0, 0, 0, is_integer() ? 1U : bits_of(1)};
  unsigned at = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned width = kWidths[data & 15][k];
    if (width == 0) continue;
    U32 word = 0;
    const unsigned aligned = width == 8 || width == 16 ? at / width * (width / 8) : at / 32 * 4;
    std::memcpy(&word, record + aligned, width == 8 ? 1 : width == 16 ? 2 : 4);
    const U32 raw = width >= 16 || width == 8 ? word : word >> at % 32 & ((1U << width) - 1);
    memory[k] = unpack_component(raw, width, number);
    at += width;
  }
  Components values{};
  for (unsigned k = 0; k < 4; ++k) {
    if (select[k] == 1) values[k] = is_integer() ? 1U : bits_of(1);
    if (select[k] >= 4) values[k] = memory[select[k] - 4U];
  }
  if (bytes() == 0) values = {};
  return values;
}

void BufferFormat::pack(const Components& values, std::byte* record) const {
  std::array<U32, 4> words{};
  unsigned at = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned width = kWidths[data & 15][k];
    if (width == 0) continue;
    const auto from = std::find(select.begin(), select.end(), 4 + k);
    if (from != select.end()) {
      const U32 raw = pack_component(values[static_cast<std::size_t>(from - select.begin())], width, number);
      words[at / 32] |= static_cast<U32>(raw & ((U64{1} << width) - 1)) << at % 32;
    }
    at += width;
  }
  std::memcpy(record, words.data(), bytes());
}

}  // namespace lacuna::isa
