// Tests typed buffers: every data and number format, component selection, halves, MTBUF, the LDS and TFE forms.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "models/isa/memory/buffer_format.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint32_t kOne = 0x3f800000;
std::uint32_t f(float value) { return std::bit_cast<std::uint32_t>(value); }

struct FormatCase {
  unsigned data, number;
  std::array<std::uint32_t, 4> record;
  Components values;
};

// Data formats, from 1 on: 8, 16, 8_8, 32, 16_16, 10_11_11, 11_11_10, 10_10_10_2, 2_10_10_10, 8_8_8_8, 32_32, 16_16_16_16,
// 32_32_32, 32_32_32_32. Number formats: 0 unorm, 1 snorm, 2 uscaled, 3 sscaled, 4 uint, 5 sint, 7 float.
TEST(BufferFormat, UnpacksAndPacks) {
  const FormatCase kCases[] = {
      {1, 0, {255}, {kOne, 0, 0, kOne}},
      {1, 0, {51}, {f(0.2F), 0, 0, kOne}},
      {1, 1, {0x81}, {f(-1), 0, 0, kOne}},
      {1, 2, {200}, {f(200), 0, 0, kOne}},
      {1, 3, {0x80}, {f(-128), 0, 0, kOne}},
      {1, 4, {200}, {200, 0, 0, 1}},
      {1, 5, {0xff}, {0xffffffff, 0, 0, 1}},
      {2, 7, {0xc100}, {f(-2.5F), 0, 0, kOne}},
      {3, 4, {0x2211}, {0x11, 0x22, 0, 1}},
      {4, 7, {0x7f812345}, {0x7f812345, 0, 0, kOne}},
      {5, 1, {0x7fff8001}, {f(-1), kOne, 0, kOne}},
      {5, 7, {0x3c00b800}, {f(-0.5F), f(1), 0, kOne}},
      {6, 7, {0x1e0U << 22 | 0x400U << 11 | 0x3c0U}, {f(1), f(2), f(1), kOne}},
      {7, 7, {0x3c0U << 21 | 0x400U << 10 | 0x1e0U}, {f(1), f(2), f(1), kOne}},
      {8, 4, {3U | 5U << 2 | 6U << 12 | 1023U << 22}, {3, 5, 6, 1023}},
      {9, 4, {5U | 6U << 10 | 1023U << 20 | 3U << 30}, {5, 6, 1023, 3}},
      {9, 5, {0x3ffU | 1U << 10 | 0x200U << 20 | 3U << 30}, {0xffffffff, 1, 0xfffffe00, 0xffffffff}},
      {10, 0, {0xff003300}, {0, f(0.2F), 0, kOne}},
      {10, 5, {0x80ff017f}, {127, 1, 0xffffffff, 0xffffff80}},
      {11, 4, {7, 8}, {7, 8, 0, 1}},
      {12, 3, {0x8000ffff, 0x00017fff}, {f(-1), f(-32768), f(32767), f(1)}},
      {13, 7, {f(1), f(2), f(3)}, {f(1), f(2), f(3), kOne}},
      {14, 5, {1, 2, 3, 0xffffffff}, {1, 2, 3, 0xffffffff}},
  };
  for (const FormatCase& c : kCases) {
    const BufferFormat format{c.data, c.number};
    std::array<std::byte, 16> record{};
    std::memcpy(record.data(), c.record.data(), 16);
    EXPECT_EQ(format.unpack(record.data()), c.values) << c.data << " " << c.number;
    record.fill(std::byte{0});
    format.pack(c.values, record.data());
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), record.data(), 16);
    EXPECT_EQ(words, c.record) << c.data << " " << c.number;
  }
}

TEST(BufferFormat, PackingClampsAndRounds) {
  const auto packed = [](unsigned data, unsigned number, float value) {
    std::array<std::byte, 16> record{};
    BufferFormat{data, number}.pack({f(value), 0, 0, 0}, record.data());
    std::uint32_t word = 0;
    std::memcpy(&word, record.data(), 4);
    return word;
  };
  EXPECT_EQ(packed(1, 0, 2), 255U);
  EXPECT_EQ(packed(1, 0, -1), 0U);
  EXPECT_EQ(packed(1, 0, 0.5F), 128U) << "127.5 rounds to even";
  EXPECT_EQ(packed(1, 1, -7), 0x81U);
  EXPECT_EQ(packed(1, 0, std::nanf("")), 0U);
  EXPECT_EQ(packed(1, 2, 300), 255U);
  EXPECT_EQ(packed(1, 3, -300), 0x80U);
  EXPECT_EQ(packed(2, 7, 65520), 0x7c00U);
  EXPECT_EQ(packed(6, 7, -3), 0U) << "no sign";
  EXPECT_EQ(packed(6, 7, std::numeric_limits<float>::infinity()), 0x7c0U);
}

TEST(BufferFormat, InvalidFormatsHaveNoBytes) {
  const std::array<std::byte, 16> record{};
  for (const unsigned data : {0U, 15U}) {
    EXPECT_EQ((BufferFormat{data, 0}.bytes()), 0U);
    EXPECT_EQ((BufferFormat{data, 0}.unpack(record.data())), Components{});
  }
}

class TypedBuffer : public ::testing::TestWithParam<Target> {
 protected:
  Machine m;
  std::byte* at = nullptr;
  std::vector<std::uint32_t> agprs = std::vector<std::uint32_t>(Machine::kVgprs * kLanes);

  void SetUp() override {
    at = m.memory.map(kBase, 4096, Access::read_write);
    m.wave.target = GetParam();
    m.wave.agpr = agprs.data();
    m.wave.agpr_count = Machine::kVgprs;
    for (unsigned l = 0; l < kLanes; ++l) m.v(0, l) = l * 8;
  }
  void descriptor(std::uint32_t records, std::uint32_t word3) {
    m.wave.sgpr[4] = static_cast<std::uint32_t>(kBase);
    m.wave.sgpr[5] = static_cast<std::uint32_t>(kBase >> 32);
    m.wave.sgpr[6] = records;
    m.wave.sgpr[7] = word3;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, TypedBuffer, ::testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

TEST_P(TypedBuffer, DescriptorSelectsComponents) {
  // Selects x from w, y = 1, z from x, w = 0; format 8_8_8_8 unorm.
  descriptor(4096, 7U | 1U << 3 | 4U << 6 | 0U << 9 | 0U << 12 | 10U << 15);
  for (unsigned l = 0; l < kLanes; ++l) write<std::uint32_t>(at + l * 8, 0xff000033);
  m.run({"buffer_load_format_xyzw v[4:7], v0, s[4:7], 0 offen"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(m.v(4, l), kOne);
    EXPECT_EQ(m.v(5, l), kOne);
    EXPECT_EQ(m.v(6, l), f(0.2F));
    EXPECT_EQ(m.v(7, l), 0U);
    m.v(8, l) = kOne;
    m.v(9, l) = 0;
    m.v(10, l) = f(0.4F);
  }
  m.run({"buffer_store_format_xyz v[8:10], v0, s[4:7], 0 offen offset:4"});
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(read<std::uint32_t>(at + l * 8 + 4), 0xff000066U);
}

TEST_P(TypedBuffer, InstructionNamesTheFormat) {
  descriptor(64 * 8 - 4, 0);
  for (unsigned l = 0; l < kLanes; ++l) write<std::uint32_t>(at + l * 8 + 4, 0xfffe0000 | l);
  m.run({"tbuffer_load_format_xyzw v[4:7], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SINT] offen offset:4"});
  ASSERT_EQ(m.wave.event, Event::none);
  for (unsigned l = 0; l + 1 < kLanes; ++l) {
    EXPECT_EQ(m.v(4, l), l);
    EXPECT_EQ(m.v(5, l), 0xfffffffeU);
    EXPECT_EQ(m.v(6, l), 0U);
    EXPECT_EQ(m.v(7, l), 1U);
  }
  for (unsigned r = 4; r < 8; ++r) EXPECT_EQ(m.v(r, 63), 0U) << "beyond the buffer";
  write<std::uint32_t>(at + 63 * 8 + 4, 77);
  m.run({"tbuffer_store_format_x v4, v0, s[4:7], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UINT] offen offset:3",
         "tbuffer_store_format_xy v[4:5], v0, s[4:7], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] offen"});
  EXPECT_EQ(read<std::uint32_t>(at + 8 * 8), 8U);
  EXPECT_EQ(read<std::uint32_t>(at + 8 * 8 + 4), 0xfffffffeU);
  EXPECT_EQ(read<std::uint32_t>(at + 63 * 8 + 4), 77U);
}

TEST_P(TypedBuffer, Halves) {
  descriptor(4096, 4U | 5U << 3 | 6U << 6 | 7U << 9 | 0U << 12 | 10U << 15);
  const bool packed = GetParam() != Target::gfx803;
  for (unsigned l = 0; l < kLanes; ++l) write<std::uint32_t>(at + l * 8, 0x00ff00ff);
  m.run({packed ? "buffer_load_format_d16_xyzw v[4:5], v0, s[4:7], 0 offen"
                : "buffer_load_format_d16_xyzw v[4:7], v0, s[4:7], 0 offen"});
  for (unsigned l = 0; l < kLanes; ++l) {
    EXPECT_EQ(m.v(4, l), 0x3c00U);
    EXPECT_EQ(m.v(5, l), packed ? 0x3c00U : 0U);
    if (!packed) {
      EXPECT_EQ(m.v(6, l), 0x3c00U);
    }
  }
  m.run({packed ? "buffer_store_format_d16_xyzw v[4:5], v0, s[4:7], 0 offen offset:4"
                : "buffer_store_format_d16_xyzw v[4:7], v0, s[4:7], 0 offen offset:4"});
  EXPECT_EQ(read<std::uint32_t>(at + 4), 0x00ff00ffU);
  if (!packed) return;
  for (unsigned l = 0; l < kLanes; ++l) m.v(8, l) = 0x1234abcd;
  m.run({"buffer_load_format_d16_hi_x v8, v0, s[4:7], 0 offen", "buffer_load_ubyte_d16_hi v9, v0, s[4:7], 0 offen",
         "buffer_load_dword a3, v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.v(8, 7), 0x3c00abcdU);
  EXPECT_EQ(m.v(9, 7), 0x00ff0000U);
  EXPECT_EQ(agprs[3 * kLanes + 7], 0x00ff00ffU);
}

TEST_P(TypedBuffer, LoadsToLds) {
  descriptor(4096, 0);
  for (unsigned l = 0; l < kLanes; ++l) write<std::uint32_t>(at + l * 8, 900 + l);
  m.wave.sgpr[kM0] = 512;
  m.wave.set_exec(~std::uint64_t{2});
  m.run({"buffer_load_dword v0, s[4:7], 0 offen lds"});
  for (unsigned l = 0; l < kLanes; ++l) EXPECT_EQ(m.lds_at<std::uint32_t>(512 + l * 4), l == 1 ? 0 : 900 + l);
}

TEST(TypedBufferGfx8, StatusWordAndStoreFromLds) {
  Machine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write);
  m.wave.sgpr[4] = static_cast<std::uint32_t>(kBase);
  m.wave.sgpr[5] = static_cast<std::uint32_t>(kBase >> 32);
  m.wave.sgpr[6] = 4096;
  m.v(3, 5) = 99;
  write<std::uint32_t>(at, 5);
  m.run({"buffer_load_dword v[2:3], off, s[4:7], 0 tfe"});
  ASSERT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.v(2, 5), 5U);
  EXPECT_EQ(m.v(3, 5), 0U);
  m.wave.sgpr[kM0] = 64;
  m.wave.set_exec(1ULL << 9);
  m.set_lds<std::uint32_t>(64 + 16 + 9 * 4, 4711);
  m.run({"buffer_store_lds_dword s[4:7], 0 offset:16 lds"});
  EXPECT_EQ(read<std::uint32_t>(at + 16), 4711U);
}

}  // namespace
}  // namespace lacuna::isa::test
