#include "models/neardata/compute_packet.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace lacuna {
namespace {

constexpr std::uint64_t kAllLanes = 0xffff'ffff;
constexpr unsigned kPlaceBits = 7;

/// Chain form that a value of the packet's pattern field encodes.
struct Pattern {
  unsigned row;
  bool two_operations;
  bool operator==(const Pattern&) const = default;
};
constexpr std::array<Pattern, 16> kPatterns{{{0, false},
                                             {1, false},
                                             {2, false},
                                             {3, false},
                                             {4, false},
                                             {5, false},
                                             {6, false},
                                             {7, false},
                                             {8, true},
                                             {9, true},
                                             {0, true},
                                             {1, true},
                                             {2, true},
                                             {4, true},
                                             {8, false},
                                             {9, false}}};

constexpr std::uint64_t ones(unsigned bits) { return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

class PacketWriter {
 public:
  explicit PacketWriter(EncodedPacket::Word& word) : word_(word) {}
  void put(const char* field, std::uint64_t value, unsigned bits) {
    if (value > ones(bits)) {
      throw std::out_of_range(std::string("compute packet: ") + field + " = " + std::to_string(value) + " does not fit in " +
                              std::to_string(bits) + " bits, at most " + std::to_string(ones(bits)));
    }
    const unsigned shift = at_ % 64;
    word_[at_ / 64] |= value << shift;
    if (shift + bits > 64) word_[at_ / 64 + 1] |= value >> (64 - shift);
    at_ += bits;
  }

 private:
  EncodedPacket::Word& word_;
  unsigned at_ = 0;
};

class PacketReader {
 public:
  explicit PacketReader(const EncodedPacket::Word& word) : word_(word) {}
  std::uint64_t take(unsigned bits) {
    const unsigned shift = at_ % 64;
    std::uint64_t value = word_[at_ / 64] >> shift;
    if (shift + bits > 64) value |= word_[at_ / 64 + 1] << (64 - shift);
    at_ += bits;
    return value & ones(bits);
  }

 private:
  const EncodedPacket::Word& word_;
  unsigned at_ = 0;
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::out_of_range(std::string("compute packet: ") + what);
}

/// Throws if the fields contradict each other; called by encoding and decoding.
void check(const ComputePacket& p) {
  expect(p.element_bytes == 1 || p.element_bytes == 2 || p.element_bytes == 4, "elements are 1, 2 or 4 bytes");
  expect((p.lanes & 1) != 0, "the first lane does not take part");
  expect(p.a.form != OperandForm::absent, "there is no first operand");
  expect(p.operations[0] != ComputePacket::kNoOperation || p.operations[1] == ComputePacket::kNoOperation,
         "there is a second operation without a first one");
  expect(p.operations[1] == ComputePacket::kNoOperation || p.modifiers == 0, "two operations leave no room for modifiers");
}

std::uint64_t pattern_code(const ComputePacket& p, bool two) {
  const auto* const code = std::find(kPatterns.begin(), kPatterns.end(), Pattern{p.pattern, two});
  if (code == kPatterns.end())
    throw std::out_of_range("compute packet: no pattern " + std::to_string(p.pattern) + " with " +
                            (two ? "two" : "fewer than two") + " operations");
  return static_cast<std::uint64_t>(code - kPatterns.begin());
}

void put_places(const ComputePacket& packet, const ComputePacket::Operand& operand, EncodedPacket::Word& word) {
  PacketWriter writer(word);
  for (unsigned lane = 0; lane < ComputePacket::kLanes; ++lane)
    writer.put("place in the line", (packet.lanes >> lane & 1) != 0 ? operand.places[lane] : 0, kPlaceBits);
}

}  // namespace

EncodedPacket::EncodedPacket(const ComputePacket& p) {
  check(p);
  const bool two = p.operations[1] != ComputePacket::kNoOperation;
  PacketWriter writer(words_[count_++]);
  writer.put("compute", 1, 1);
  writer.put("core", p.core, 8);
  writer.put("entry", p.entry, 7);
  writer.put("pattern", pattern_code(p, two), 4);
  writer.put("element", static_cast<std::uint64_t>(std::countr_zero(p.element_bytes)), 2);
  writer.put("sign", p.is_signed ? 1 : 0, 1);
  writer.put("operation", p.operations[0], 6);
  writer.put(two ? "second operation" : "modifiers", two ? p.operations[1] : p.modifiers, 6);
  for (const ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store})
    writer.put("form", static_cast<std::uint64_t>(operand->form), 2);
  for (const ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) writer.put("address", operand->address, 48);
  writer.put("immediate", p.immediate, 32);
  writer.put("lanes", p.lanes, 32);
  if (p.lanes != kAllLanes) ++count_;
  for (const ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) {
    if (operand->form == OperandForm::scattered) put_places(p, *operand, words_[count_++]);
  }
}

ComputePacket decode_packet(std::span<const EncodedPacket::Word> words) {
  expect(!words.empty(), "no word");
  PacketReader reader(words[0]);
  ComputePacket p;
  expect(reader.take(1) == 1, "the first bit is 0: another packet");
  p.core = static_cast<unsigned>(reader.take(8));
  p.entry = static_cast<unsigned>(reader.take(7));
  const Pattern pattern = kPatterns.at(reader.take(4));
  p.pattern = pattern.row;
  p.element_bytes = 1U << reader.take(2);
  p.is_signed = reader.take(1) != 0;
  p.operations[0] = static_cast<std::uint8_t>(reader.take(6));
  const auto second = static_cast<std::uint8_t>(reader.take(6));
  (pattern.two_operations ? p.operations[1] : p.modifiers) = second;
  for (ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) operand->form = static_cast<OperandForm>(reader.take(2));
  for (ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) operand->address = reader.take(48);
  p.immediate = static_cast<std::uint32_t>(reader.take(32));
  p.lanes = static_cast<std::uint32_t>(reader.take(32));
  check(p);
  std::size_t next = p.lanes == kAllLanes ? 1 : 2;
  for (ComputePacket::Operand* const operand : {&p.a, &p.b, &p.store}) {
    if (operand->form != OperandForm::scattered) continue;
    expect(next < words.size(), "the word with the places of a scattered operand is missing");
    PacketReader places(words[next++]);
    for (std::uint8_t& place : operand->places) place = static_cast<std::uint8_t>(places.take(kPlaceBits));
  }
  expect(next == words.size(), "more or fewer words than its lanes and operands need");
  return p;
}

}  // namespace lacuna
