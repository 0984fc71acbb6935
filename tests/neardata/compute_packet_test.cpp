// Tests the encoding of compute packets: random packets are unchanged after encoding and decoding, and have one word of 256
// bits, or several words if their lanes diverge; values that do not fit are refused.
#include "models/neardata/compute_packet.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna {
namespace {

constexpr std::uint32_t kAll = 0xffff'ffff;

ComputePacket copy_of_a_line() {
  ComputePacket p;
  p.core = 15;
  p.entry = 47;
  p.pattern = 3;
  p.a = {.form = OperandForm::strided, .address = 0x8000'1280, .places = {}};
  p.store = {.form = OperandForm::strided, .address = 0x8004'1280, .places = {}};
  p.lanes = kAll;
  return p;
}

std::vector<EncodedPacket::Word> words_of(const ComputePacket& packet) {
  const EncodedPacket encoded(packet);
  return {encoded.words().begin(), encoded.words().end()};
}

std::string refusal(const ComputePacket& packet) {
  try {
    EncodedPacket{packet};
  } catch (const std::out_of_range& error) {
    return error.what();
  }
  return "";
}

TEST(ComputePacket, RandomPacketsComeBack) {
  std::mt19937_64 random(7);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  for (unsigned i = 0; i < 200'000; ++i) {
    ComputePacket p;
    p.core = static_cast<unsigned>(below(256));
    p.entry = static_cast<unsigned>(below(128));
    p.pattern = static_cast<unsigned>(below(10));
    p.element_bytes = 1U << below(3);
    p.is_signed = below(2) != 0;
    const bool two = p.pattern != 3 && (p.pattern < 5 || p.pattern > 7) && below(2) != 0;
    if (two || below(4) != 0) p.operations[0] = static_cast<std::uint8_t>(below(61));
    if (two) p.operations[1] = static_cast<std::uint8_t>(below(61));
    if (!two) p.modifiers = static_cast<std::uint8_t>(below(64));
    p.lanes = below(2) != 0 ? kAll : static_cast<std::uint32_t>(random()) | 1;
    p.immediate = static_cast<std::uint32_t>(random());
    unsigned words = p.lanes == kAll ? 1 : 2;
    for (ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) {
      operand->form = static_cast<OperandForm>(below(operand == &p.a ? 3 : 4));
      operand->address = below(std::uint64_t{1} << 48);
      if (operand->form != OperandForm::scattered) continue;
      ++words;
      for (unsigned lane = 0; lane < 32; ++lane)
        operand->places[lane] = static_cast<std::uint8_t>((p.lanes >> lane & 1) != 0 ? below(128) : 0);
    }
    const EncodedPacket encoded(p);
    ASSERT_EQ(encoded.words().size(), words);
    ASSERT_EQ(encoded.flits(32), words);
    ASSERT_EQ(encoded.flits(64), (words + 1) / 2);
    ASSERT_EQ(encoded.flits(16), 2 * words);
    ASSERT_TRUE(decode_packet(encoded.words()) == p) << i;
  }
}

// Fields take 249 bits; the remaining bits of the word are zero.
TEST(ComputePacket, FieldsTake249Bits) {
  ComputePacket p = copy_of_a_line();
  p.core = 255;
  p.entry = 127;
  p.pattern = 9;
  p.is_signed = true;
  p.operations = {62, 62};
  for (ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store})
    *operand = {.form = OperandForm::scattered, .address = (std::uint64_t{1} << 48) - 1, .places = {}};
  p.immediate = p.lanes = kAll;
  const auto words = words_of(p);
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0][3] >> 57, 0U);  // 249 = 3 x 64 + 57
  EXPECT_EQ(words[0][3] >> 56, 1U);
}

TEST(ComputePacket, FieldsOutOfRangeAreRefused) {
  EXPECT_EQ(refusal(copy_of_a_line()), "");
  const auto with = [](auto change) {
    ComputePacket p = copy_of_a_line();
    change(p);
    return refusal(p);
  };
  EXPECT_EQ(with([](ComputePacket& p) { p.core = 256; }), "compute packet: core = 256 does not fit in 8 bits, at most 255");
  EXPECT_EQ(with([](ComputePacket& p) { p.entry = 128; }), "compute packet: entry = 128 does not fit in 7 bits, at most 127");
  EXPECT_NE(with([](ComputePacket& p) { p.pattern = 10; }), "");
  EXPECT_EQ(with([](ComputePacket& p) {
              p.pattern = 7, p.operations = {1, 2};
            }),
            "compute packet: no pattern 7 with two operations");
  EXPECT_NE(with([](ComputePacket& p) { p.element_bytes = 8; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.element_bytes = 3; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.lanes = 0; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.lanes = 2; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.operations[0] = 64; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.operations[1] = 1; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.modifiers = 64; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.operations = {1, 2}, p.modifiers = 1; }), "");
  EXPECT_NE(with([](ComputePacket& p) { p.a.form = OperandForm::absent; }), "");
  EXPECT_EQ(with([](ComputePacket& p) { p.store.address = std::uint64_t{1} << 48; }),
            "compute packet: address = 281474976710656 does not fit in 48 bits, at most 281474976710655");
  EXPECT_NE(with([](ComputePacket& p) { p.a.form = OperandForm::scattered, p.a.places[3] = 128; }), "");
}

TEST(ComputePacket, OtherWordsAreNoPacket) {
  EXPECT_THROW(decode_packet({}), std::out_of_range);
  const std::vector<EncodedPacket::Word> zero(1);
  EXPECT_THROW(decode_packet(zero), std::out_of_range);
  ComputePacket p = copy_of_a_line();
  p.a.form = OperandForm::scattered;
  p.lanes = 0xff;
  auto words = words_of(p);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_TRUE(decode_packet(words) == p);
  words.emplace_back();
  EXPECT_THROW(decode_packet(words), std::out_of_range);
  words.resize(2);
  EXPECT_THROW(decode_packet(words), std::out_of_range);
}

}  // namespace
}  // namespace lacuna
