#include "models/host/rv64/rv64_decode.h"

namespace lacuna::rv64 {
namespace {

constexpr std::uint32_t kStackPointer = 2;

/// Moves `width` bits from position `from` to position `to`.
constexpr std::uint32_t move(std::uint32_t bits, unsigned from, unsigned width, unsigned to) {
  return (bits >> from & ((1u << width) - 1)) << to;
}

constexpr std::uint32_t sign_extend(std::uint32_t value, unsigned width) {
  const unsigned shift = 32 - width;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << shift) >> shift);
}

constexpr std::uint32_t encode_r(std::uint32_t match, std::uint32_t rd, std::uint32_t rs1, std::uint32_t rs2) {
  return match | rd << 7 | rs1 << 15 | rs2 << 20;
}

constexpr std::uint32_t encode_i(std::uint32_t match, std::uint32_t rd, std::uint32_t rs1, std::uint32_t immediate) {
  return match | rd << 7 | rs1 << 15 | immediate << 20;
}

constexpr std::uint32_t encode_s(std::uint32_t match, std::uint32_t rs1, std::uint32_t rs2, std::uint32_t immediate) {
  return match | rs1 << 15 | rs2 << 20 | move(immediate, 5, 7, 25) | move(immediate, 0, 5, 7);
}

constexpr std::uint32_t encode_b(std::uint32_t match, std::uint32_t rs1, std::uint32_t immediate) {
  return match | rs1 << 15 | move(immediate, 12, 1, 31) | move(immediate, 5, 6, 25) | move(immediate, 1, 4, 8) |
         move(immediate, 11, 1, 7);
}

constexpr std::uint32_t encode_j(std::uint32_t match, std::uint32_t rd, std::uint32_t immediate) {
  return match | rd << 7 | move(immediate, 20, 1, 31) | move(immediate, 1, 10, 21) | move(immediate, 11, 1, 20) |
         move(immediate, 12, 8, 12);
}

// Base encodings of the instructions to which compressed instructions expand (rv64_operations.h).
enum : std::uint32_t {
  kLui = 0x37,
  kJal = 0x6f,
  kJalr = 0x67,
  kBeq = 0x63,
  kBne = 0x1063,
  kLw = 0x2003,
  kLd = 0x3003,
  kFld = 0x3007,
  kSw = 0x2023,
  kSd = 0x3023,
  kFsd = 0x3027,
  kAddi = 0x13,
  kAndi = 0x7013,
  kSlli = 0x1013,
  kSrli = 0x5013,
  kSrai = 0x40005013,
  kAddiw = 0x1b,
  kAdd = 0x33,
  kSub = 0x40000033,
  kXor = 0x4033,
  kOr = 0x6033,
  kAnd = 0x7033,
  kAddw = 0x3b,
  kSubw = 0x4000003b,
  kEbreak = 0x100073,
};

using Expansion = std::optional<std::uint32_t>;

Expansion expand_quadrant_0(std::uint32_t c) {
  const std::uint32_t rd = 8 + (c >> 2 & 7);
  const std::uint32_t rs1 = 8 + (c >> 7 & 7);
  const std::uint32_t word_offset = move(c, 10, 3, 3) | move(c, 6, 1, 2) | move(c, 5, 1, 6);
  const std::uint32_t double_offset = move(c, 10, 3, 3) | move(c, 5, 2, 6);
  switch (c >> 13) {
    case 0: {
      const std::uint32_t immediate = move(c, 11, 2, 4) | move(c, 7, 4, 6) | move(c, 6, 1, 2) | move(c, 5, 1, 3);
      if (immediate == 0) return std::nullopt;
      return encode_i(kAddi, rd, kStackPointer, immediate);
    }
    case 1:
      return encode_i(kFld, rd, rs1, double_offset);
    case 2:
      return encode_i(kLw, rd, rs1, word_offset);
    case 3:
      return encode_i(kLd, rd, rs1, double_offset);
    case 5:
      return encode_s(kFsd, rs1, rd, double_offset);
    case 6:
      return encode_s(kSw, rs1, rd, word_offset);
    case 7:
      return encode_s(kSd, rs1, rd, double_offset);
    default:
      return std::nullopt;
  }
}

Expansion expand_arithmetic(std::uint32_t c) {
  const std::uint32_t rd = 8 + (c >> 7 & 7);
  const std::uint32_t rs2 = 8 + (c >> 2 & 7);
  const std::uint32_t six = move(c, 12, 1, 5) | move(c, 2, 5, 0);
  switch (c >> 10 & 3) {
    case 0:
      return encode_i(kSrli, rd, rd, six);
    case 1:
      return encode_i(kSrai, rd, rd, six);
    case 2:
      return encode_i(kAndi, rd, rd, sign_extend(six, 6));
    default:
      break;
  }
  switch ((c >> 12 & 1) << 2 | (c >> 5 & 3)) {
    case 0:
      return encode_r(kSub, rd, rd, rs2);
    case 1:
      return encode_r(kXor, rd, rd, rs2);
    case 2:
      return encode_r(kOr, rd, rd, rs2);
    case 3:
      return encode_r(kAnd, rd, rd, rs2);
    case 4:
      return encode_r(kSubw, rd, rd, rs2);
    case 5:
      return encode_r(kAddw, rd, rd, rs2);
    default:
      return std::nullopt;
  }
}

Expansion expand_quadrant_1(std::uint32_t c) {
  const std::uint32_t rd = c >> 7 & 31;
  const std::uint32_t six = sign_extend(move(c, 12, 1, 5) | move(c, 2, 5, 0), 6);
  const std::uint32_t branch_offset =
      sign_extend(move(c, 12, 1, 8) | move(c, 10, 2, 3) | move(c, 5, 2, 6) | move(c, 3, 2, 1) | move(c, 2, 1, 5), 9);
  switch (c >> 13) {
    case 0:
      return encode_i(kAddi, rd, rd, six);
    case 1:
      if (rd == 0) return std::nullopt;
      return encode_i(kAddiw, rd, rd, six);
    case 2:
      return encode_i(kAddi, rd, 0, six);
    case 3: {
      if (rd == kStackPointer) {
        const std::uint32_t immediate =
            sign_extend(move(c, 12, 1, 9) | move(c, 6, 1, 4) | move(c, 5, 1, 6) | move(c, 3, 2, 7) | move(c, 2, 1, 5), 10);
        if (immediate == 0) return std::nullopt;
        return encode_i(kAddi, rd, rd, immediate);
      }
      if (six == 0) return std::nullopt;
      return kLui | rd << 7 | six << 12;
    }
    case 4:
      return expand_arithmetic(c);
    case 5: {
      const std::uint32_t offset = sign_extend(move(c, 12, 1, 11) | move(c, 11, 1, 4) | move(c, 9, 2, 8) | move(c, 8, 1, 10) |
                                                   move(c, 7, 1, 6) | move(c, 6, 1, 7) | move(c, 3, 3, 1) | move(c, 2, 1, 5),
                                               12);
      return encode_j(kJal, 0, offset);
    }
    case 6:
      return encode_b(kBeq, 8 + (c >> 7 & 7), branch_offset);
    default:
      return encode_b(kBne, 8 + (c >> 7 & 7), branch_offset);
  }
}

Expansion expand_quadrant_2(std::uint32_t c) {
  const std::uint32_t rd = c >> 7 & 31;
  const std::uint32_t rs2 = c >> 2 & 31;
  const std::uint32_t double_offset = move(c, 12, 1, 5) | move(c, 5, 2, 3) | move(c, 2, 3, 6);
  const std::uint32_t word_offset = move(c, 12, 1, 5) | move(c, 4, 3, 2) | move(c, 2, 2, 6);
  const std::uint32_t double_store_offset = move(c, 10, 3, 3) | move(c, 7, 3, 6);
  const std::uint32_t word_store_offset = move(c, 9, 4, 2) | move(c, 7, 2, 6);
  switch (c >> 13) {
    case 0:
      return encode_i(kSlli, rd, rd, move(c, 12, 1, 5) | rs2);
    case 1:
      return encode_i(kFld, rd, kStackPointer, double_offset);
    case 2:
      if (rd == 0) return std::nullopt;
      return encode_i(kLw, rd, kStackPointer, word_offset);
    case 3:
      if (rd == 0) return std::nullopt;
      return encode_i(kLd, rd, kStackPointer, double_offset);
    case 4: {
      const bool high = (c >> 12 & 1) != 0;
      if (rs2 != 0) return encode_r(kAdd, rd, high ? rd : 0, rs2);
      if (rd != 0) return encode_i(kJalr, high ? 1 : 0, rd, 0);
      if (high) return kEbreak;
      return std::nullopt;
    }
    case 5:
      return encode_s(kFsd, kStackPointer, rs2, double_store_offset);
    case 6:
      return encode_s(kSw, kStackPointer, rs2, word_store_offset);
    default:
      return encode_s(kSd, kStackPointer, rs2, double_store_offset);
  }
}

}  // namespace

std::optional<std::uint32_t> expand_compressed(std::uint16_t bits) {
  switch (bits & 3) {
    case 0:
      return expand_quadrant_0(bits);
    case 1:
      return expand_quadrant_1(bits);
    case 2:
      return expand_quadrant_2(bits);
    default:
      return std::nullopt;
  }
}

}  // namespace lacuna::rv64
