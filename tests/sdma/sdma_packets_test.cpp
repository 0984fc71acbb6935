// Tests the decoding of SDMA packets on each generation.
#include "models/sdma/sdma_packets.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna::sdma {
namespace {

const Format kGfx8 = Format::of(isa::Target::gfx803, Gfx8Pitch::silicon);
const Format kGfx8Rocm = Format::of(isa::Target::gfx803, Gfx8Pitch::rocm);
const Format kGfx9 = Format::of(isa::Target::gfx90a, Gfx8Pitch::silicon);

using Words = std::vector<std::uint32_t>;

TEST(SdmaPackets, LengthsOfPackets) {
  struct Row {
    Words head;
    std::uint64_t words;
  };
  const Row rows[] = {{{0x00000000}, 1}, {{0x00050000}, 6}, {{0x00000001}, 7}, {{0x08000001}, 9}, {{0x00000401}, 13},
                      {{0x00000004}, 6}, {{0x00000005}, 4}, {{0x00000006}, 2}, {{0x80000008}, 6}, {{0x00000009}, 5},
                      {{0x5e00000a}, 8}, {{0x8000000b}, 5}, {{0x0000020d}, 3}, {{0x000000ff}, 1}};
  for (const Row& row : rows) EXPECT_EQ(words(row.head, kGfx9), row.words) << std::hex << row.head[0];
  EXPECT_EQ(words({}, kGfx9), std::nullopt);
  // The fourth word of a write packet contains its length.
  EXPECT_EQ(words(Words{2, 0, 0}, kGfx9), std::nullopt);
  EXPECT_EQ(words(Words{2, 0, 0, 7}, kGfx9), 12u);
  EXPECT_EQ(words(Words{2, 0, 0, 7}, kGfx8), 11u);
}

TEST(SdmaPackets, CountsAreOneLessFromGfx9On) {
  const Words copy = {1, 255, 0, 0x1000, 1, 0x2000, 2};
  EXPECT_EQ(std::get<Copy>(decode(copy, kGfx8)).bytes, 255u);
  EXPECT_EQ(std::get<Copy>(decode(copy, kGfx9)).bytes, 256u);
  EXPECT_EQ(std::get<Copy>(decode(copy, kGfx9)).source, 0x1'0000'1000u);
  EXPECT_EQ(std::get<Copy>(decode(copy, kGfx9)).destination[0], 0x2'0000'2000u);
  EXPECT_EQ(std::get<Copy>(decode(copy, kGfx9)).destinations, 1u);
  const Words both = {1 | 1u << 27, 255, 0, 0, 0, 0x10, 0, 0x20, 3};
  EXPECT_EQ(std::get<Copy>(decode(both, kGfx9)).destinations, 2u);
  EXPECT_EQ(std::get<Copy>(decode(both, kGfx9)).destination[1], 0x3'0000'0020u);
}

// The driver encodes a fill's size as bytes - 1, the runtime as (words - 1) * 4.
TEST(SdmaPackets, FillsCountWholeUnits) {
  struct Row {
    unsigned code;
    std::uint32_t count;
    std::uint64_t gfx8, gfx9;
  };
  const Row rows[] = {{2, 0, 0, 4}, {2, 3, 0, 4}, {2, 4, 4, 8}, {2, 4095, 4092, 4096}, {1, 2, 2, 4}, {0, 7, 7, 8}};
  for (const Row& row : rows) {
    const Words fill = {0xb | row.code << 30, 0, 0, 0x12345678, row.count};
    EXPECT_EQ(std::get<Fill>(decode(fill, kGfx8)).bytes, row.gfx8) << row.code << ' ' << row.count;
    EXPECT_EQ(std::get<Fill>(decode(fill, kGfx9)).bytes, row.gfx9) << row.code << ' ' << row.count;
    EXPECT_EQ(std::get<Fill>(decode(fill, kGfx9)).unit, 1u << row.code);
  }
  EXPECT_TRUE(std::holds_alternative<Invalid>(decode(Words{0xb | 3u << 30, 0, 0, 0, 0}, kGfx9)));
}

TEST(SdmaPackets, WindowsHavePitchesWhereTheGenerationHasThem) {
  Words window(13);
  window[0] = 1 | 4u << 8 | 2u << 29;
  window[1] = 0x1000;
  window[3] = 5 | 6u << 16;
  window[4] = 7 | 99u << 13;
  window[5] = 1199;
  window[6] = 0x8000;
  window[11] = 15 | 31u << 16;
  window[12] = 3;
  const auto gfx9 = std::get<CopyWindow>(decode(window, kGfx9));
  EXPECT_EQ(gfx9.element, 4u);
  EXPECT_EQ(gfx9.source.pitch, 100u);
  EXPECT_EQ(gfx9.source.slice, 1200u);
  EXPECT_EQ(gfx9.source.row(2, 1, gfx9.element), 0x1000 + ((7 + 1) * 1200 + (6 + 2) * 100 + 5) * 4u);
  EXPECT_EQ(gfx9.width, 16u);
  EXPECT_EQ(gfx9.height, 32u);
  EXPECT_EQ(gfx9.depth, 4u);
  EXPECT_EQ(std::get<CopyWindow>(decode(window, kGfx8Rocm)).source.pitch, 100u);
  window[4] = 7 | 99u << 16;
  EXPECT_EQ(std::get<CopyWindow>(decode(window, kGfx8)).source.pitch, 100u);
  window[0] = 1 | 4u << 8 | 5u << 29;
  EXPECT_TRUE(std::holds_alternative<Invalid>(decode(window, kGfx9)));
}

TEST(SdmaPackets, PollsCompareMaskedMemory) {
  struct Row {
    unsigned function;
    bool below, equal, above;
  };
  const Row rows[] = {{0, true, true, true},  {1, true, false, false}, {2, true, true, false}, {3, false, true, false},
                      {4, true, false, true}, {5, false, true, true},  {6, false, false, true}};
  for (const Row& row : rows) {
    const Words words = {8 | row.function << 28 | 1u << 31, 0x40, 0, 0x50, 0xff, 0xfffu << 16};
    const auto poll = std::get<Poll>(decode(words, kGfx9));
    EXPECT_TRUE(poll.memory);
    EXPECT_EQ(poll.retries, Poll::kForEver);
    EXPECT_EQ(poll.satisfied(0xab4f), row.below) << row.function;
    EXPECT_EQ(poll.satisfied(0xab50), row.equal) << row.function;
    EXPECT_EQ(poll.satisfied(0xab51), row.above) << row.function;
  }
  EXPECT_FALSE(std::get<Poll>(decode(Words{8, 0, 0, 0, 0, 0}, kGfx9)).memory);
}

TEST(SdmaPackets, AtomicsAreTheIntegerOperationsOfMemory) {
  struct Row {
    unsigned code;
    std::uint64_t old, operand, comparand, result;
  };
  constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};
  const Row rows[] = {
      {47, 1, kMinusOne, 0, 0},  // add, 64 bits, used by ROCm's runtime to decrement signals
      {47, 0, kMinusOne, 0, kMinusOne},
      {15, 0xffff'ffff, 1, 0, 0},        // add, 32 bits
      {48, 5, 7, 0, kMinusOne - 1},      // sub
      {49, kMinusOne, 1, 0, kMinusOne},  // signed minimum
      {17, 0xffff'ffff, 1, 0, 0xffff'ffff},
      {50, kMinusOne, 1, 0, 1},          // unsigned minimum
      {51, kMinusOne, 1, 0, 1},          // signed maximum
      {52, kMinusOne, 1, 0, kMinusOne},  // unsigned maximum
      {53, 12, 10, 0, 8},                // and
      {54, 12, 10, 0, 14},               // or
      {55, 12, 10, 0, 6},                // xor
      {56, 7, 7, 0, 0},                  // inc
      {56, 6, 7, 0, 7},
      {57, 0, 7, 0, 7},  // dec
      {57, 5, 7, 0, 4},
      {39, 5, 9, 0, 9},  // exchange
      {40, 5, 9, 5, 9},  // compare and exchange
      {40, 5, 9, 6, 5},
      {111, 3, 4, 0, 7},  // add without return
  };
  for (const Row& row : rows) {
    const Words words = {10 | row.code << 25,
                         0x40,
                         0,
                         static_cast<std::uint32_t>(row.operand),
                         static_cast<std::uint32_t>(row.operand >> 32),
                         static_cast<std::uint32_t>(row.comparand),
                         static_cast<std::uint32_t>(row.comparand >> 32),
                         0};
    const auto atomic = std::get<Atomic>(decode(words, kGfx9));
    EXPECT_EQ(atomic.bytes, (row.code & 32) != 0 ? 8u : 4u);
    EXPECT_EQ(atomic.result(row.old), row.result) << row.code;
  }
  for (const unsigned code : {0u, 1u, 2u, 26u, 31u}) {
    EXPECT_TRUE(std::holds_alternative<Invalid>(decode(Words{10 | code << 25, 0, 0, 0, 0, 0, 0, 0}, kGfx9))) << code;
  }
}

TEST(SdmaPackets, UnknownPacketsAreNamed) {
  for (const std::uint32_t header : {0x07u, 0x0cu, 0x0eu, 0x0101u, 0x0102u, 0x030du, 0x11u}) {
    const Words words(sdma::kLongestHeader, header);
    const Packet packet = decode(words, kGfx9);
    ASSERT_TRUE(std::holds_alternative<Invalid>(packet)) << std::hex << header;
    EXPECT_NE(std::get<Invalid>(packet).why.find("not supported"), std::string::npos);
  }
}

}  // namespace
}  // namespace lacuna::sdma
