// Sums of absolute differences (GCN3 ISA manual, V_SAD*, V_MSAD*, V_QSAD*). kClamp: saturate instead of wrapping.
#pragma once

#include <cstdint>

#include "models/isa/vector/valu_integer.h"
#include "models/isa/vector/valu_types.h"

namespace lacuna::isa {

template <bool kClamp>
constexpr std::uint32_t accumulate_sad(std::uint64_t sum, std::uint32_t base) {
  return kClamp ? saturate_u32(sum + base) : static_cast<std::uint32_t>(sum + base);
}

template <bool kClamp>
struct SadU8 {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return accumulate_sad<kClamp>(sad_bytes(a, b), c);
  }
};
template <bool kClamp>
struct SadHighU8 {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return accumulate_sad<kClamp>(sad_bytes(a, b) << 16, c);
  }
};
template <bool kClamp>
struct SadU16 {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return accumulate_sad<kClamp>(difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16), c);
  }
};
template <bool kClamp>
struct SadU32 {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return accumulate_sad<kClamp>(difference(a, b), c);
  }
};
template <bool kClamp>
struct MaskedSadU8 {
  constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return accumulate_sad<kClamp>(masked_sad_bytes(a, b), c);
  }
};

/// Four windows of four bytes, each one byte further in `a`, against the reference `b`; 16-bit sums.
template <bool kMasked, bool kClamp>
struct QuadSad {
  constexpr std::uint64_t operator()(std::uint64_t a, std::uint32_t b, std::uint64_t c) const {
    std::uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const auto window = static_cast<std::uint32_t>(a >> (8 * i));
      const std::uint32_t sum =
          (kMasked ? masked_sad_bytes(window, b) : sad_bytes(window, b)) + static_cast<std::uint32_t>((c >> (16 * i)) & 0xffff);
      result |= std::uint64_t{kClamp ? saturate_u16(sum) : static_cast<std::uint16_t>(sum)} << (16 * i);
    }
    return result;
  }
};

template <bool kClamp>
struct QuadSadU32 {
  constexpr Words4 operator()(std::uint64_t a, std::uint32_t b, Words4 c) const {
    for (unsigned i = 0; i < 4; ++i) {
      c.word[i] = accumulate_sad<kClamp>(masked_sad_bytes(static_cast<std::uint32_t>(a >> (8 * i)), b), c.word[i]);
    }
    return c;
  }
};

}  // namespace lacuna::isa
