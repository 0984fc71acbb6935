// Encoding of the compute packet that a core sends to the node that performs a part of a chain (Opportunistic Computing, ISCA
// '19, Fig. 5 and section 4.5).
//
// A packet consists of words of 256 bits, the size of a 32-byte flit. Fields of the first word, from bit 0 on:
//
//   bits  field
//      1  1: a compute packet
//      8  core
//      7  entry of its offload queue
//      4  pattern: row of the paper's Table 1; 0 if no row describes the chain. Rows 8 and 9 have two operations, the others
//         one at most; 10 to 13: rows 0, 1, 2, 4 with two operations, 14 and 15: rows 8 and 9 with one
//      3  element: log2 of its bytes (2 bits), signed (1 bit)
//     12  operations: first and second (6 bits each), or one (6 bits) and its modifiers (6 bits)
//    3x2  forms of the operands a, b and of the store
//   3x48  addresses of the first lane's operands
//     32  immediate
//     32  lane mask; bit 0 is the packet's first lane
//   249 bits
//
// A packet of fewer than 32 lanes has a second word, which models the additional flit of divergent lanes but has no contents:
// the lane mask is in the first word. For each scattered operand, a word follows with the positions of the lanes' elements in
// the line, 7 bits per lane.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lacuna {

/// Relation of the lanes' addresses of an operand to the address of the packet's first lane.
enum class OperandForm : std::uint8_t {
  strided,    ///< consecutive elements, in the order of the lanes
  uniform,    ///< all lanes have the same address
  scattered,  ///< any addresses in the line: a word of the packet contains the lanes' positions
  absent,     ///< the chain has no such operand
};

struct ComputePacket {
  static constexpr unsigned kMostCores = 256;
  static constexpr unsigned kMostEntries = 128;
  static constexpr unsigned kLanes = 32;
  static constexpr std::uint8_t kNoOperation = 63;

  struct Operand {
    OperandForm form = OperandForm::absent;
    std::uint64_t address = 0;                  ///< address of the first lane
    std::array<std::uint8_t, kLanes> places{};  ///< byte offset of each active lane in the line, if scattered
    bool operator==(const Operand&) const = default;
  };

  unsigned core = 0;
  unsigned entry = 0;
  unsigned pattern = 0;
  unsigned element_bytes = 4;  ///< 1, 2 or 4
  bool is_signed = false;
  std::array<std::uint8_t, 2> operations{kNoOperation, kNoOperation};  ///< PacketOperation codes
  std::uint8_t modifiers = 0;  ///< modifiers of operations[0]; 0 if there are two operations
  Operand a, b, store;
  std::uint32_t immediate = 0;
  std::uint32_t lanes = 0;  ///< active lanes; bit 0 is the first lane and always set
  bool operator==(const ComputePacket&) const = default;
};

/// An encoded packet, as words of 256 bits.
class EncodedPacket {
 public:
  static constexpr unsigned kWordBits = 256;
  static constexpr unsigned kMostWords = 5;
  using Word = std::array<std::uint64_t, kWordBits / 64>;

  /// Throws std::out_of_range, with the name of the field, if a value does not fit its field.
  explicit EncodedPacket(const ComputePacket& packet);

  std::span<const Word> words() const { return {words_.data(), count_}; }
  /// Number of flits of `width` bytes that the packet occupies.
  unsigned flits(unsigned width) const { return (count_ * (kWordBits / 8) + width - 1) / width; }

 private:
  std::array<Word, kMostWords> words_{};
  unsigned count_ = 0;
};

/// Returns the decoded packet. Throws std::out_of_range if the words are not a valid compute packet.
ComputePacket decode_packet(std::span<const EncodedPacket::Word> words);

}  // namespace lacuna
