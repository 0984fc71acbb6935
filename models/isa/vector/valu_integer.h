// Integer operations that several rows share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

constexpr std::uint32_t saturate_u32(std::uint64_t value) {
  return value > 0xffffffffU ? 0xffffffffU : static_cast<std::uint32_t>(value);
}
constexpr std::int32_t saturate_i32(std::int64_t value) {
  return value > 0x7fffffff      ? 0x7fffffff
         : value < -0x80000000LL ? std::numeric_limits<std::int32_t>::min()
                                 : static_cast<std::int32_t>(value);
}
constexpr std::uint16_t saturate_u16(std::uint32_t value) {
  return value > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(value);
}
constexpr std::int16_t saturate_i16(std::int32_t value) {
  return value > 0x7fff ? std::int16_t{0x7fff} : value < -0x8000 ? std::int16_t{-0x8000} : static_cast<std::int16_t>(value);
}

constexpr std::uint32_t saturate_u8(std::int32_t value) {
  return value > 0xff ? 0xff : value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

constexpr std::int32_t low_i16(std::uint32_t word) { return static_cast<std::int16_t>(word); }
constexpr std::int32_t low24(std::int32_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8;
}
constexpr std::uint32_t low24(std::uint32_t value) { return value & 0xffffff; }

constexpr std::uint32_t difference(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

constexpr std::uint32_t byte_of(std::uint32_t word, unsigned index) { return (word >> (8 * index)) & 0xff; }

/// Sum of absolute differences of four bytes.
constexpr std::uint32_t sad_bytes(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += difference(byte_of(a, i), byte_of(b, i));
  return sum;
}
/// As sad_bytes(); bytes whose reference byte in `b` is zero do not count.
constexpr std::uint32_t masked_sad_bytes(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += byte_of(b, i) != 0 ? difference(byte_of(a, i), byte_of(b, i)) : 0;
  return sum;
}

constexpr std::uint32_t reverse_bits(std::uint32_t v) {
  v = (v >> 1 & 0x55555555U) | (v & 0x55555555U) << 1;
  v = (v >> 2 & 0x33333333U) | (v & 0x33333333U) << 2;
  v = (v >> 4 & 0x0f0f0f0fU) | (v & 0x0f0f0f0fU) << 4;
  v = (v >> 8 & 0x00ff00ffU) | (v & 0x00ff00ffU) << 8;
  return v >> 16 | v << 16;
}

constexpr std::uint32_t count_bits(std::uint32_t v) {
  v -= v >> 1 & 0x55555555U;
  v = (v & 0x33333333U) + (v >> 2 & 0x33333333U);
  v = (v + (v >> 4)) & 0x0f0f0f0fU;
  return (v * 0x01010101U) >> 24;
}

/// Position of the first set bit from the top; all ones if there is none.
inline std::uint32_t leading_zeros(std::uint32_t v) { return v != 0 ? static_cast<std::uint32_t>(std::countl_zero(v)) : ~0U; }

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// The byte that a selector of v_perm_b32 selects from {high, low}: 0-7 a byte, 8-11 a sign, 12 zero, 13 and more 0xff.
constexpr std::uint32_t permuted_byte(std::uint32_t high, std::uint32_t low, std::uint32_t selector) {
  const std::uint64_t data = std::uint64_t{high} << 32 | low;
  if (selector >= 13) return 0xff;
  if (selector == 12) return 0;
  if (selector >= 8) return ((data >> (16 * (selector - 8) + 15)) & 1) != 0 ? 0xff : 0;
  return static_cast<std::uint32_t>(data >> (8 * selector)) & 0xff;
}

}  // namespace lacuna::isa
