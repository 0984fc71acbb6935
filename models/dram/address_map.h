// Maps an address in a DRAM channel to pseudo channel, bank group, bank, row and column, by a bit-field string.
//
//   "row bank group column pseudo"   from the most significant bits down; a field may be split: "row column:3 bank column:2"
//
// Addresses count bursts: the string has no bits for the offset in a burst. The organization determines each field's width.
// `name:n` places n bits of a field; a name without number places the field's remaining bits. `row` must be first and takes all
// bits above the other fields.
//
//   "row bank^row group^row column pseudo"   the row selects a permutation of banks and groups
//
// ^row: the row's bits, folded to the number of marked bits, are XORed onto the marked bits. Without ^row, arrays at a distance
// of a power of two use different rows of the same bank. A GPU kernel that reads several such arrays then has a row conflict at
// every access (Zhang, Zhu, Zhang, "A permutation-based page interleaving scheme", MICRO 2000;
// models/common/transport/address_hash.h).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace lacuna {

struct DramOrganization {
  unsigned pseudo_channels = 1;
  unsigned bank_groups = 4;
  unsigned banks_per_group = 4;
  unsigned columns = 32;  ///< bursts per row
};

struct DramLocation {
  std::uint64_t row = 0;
  std::uint32_t column = 0;
  std::uint32_t pseudo_channel = 0;
  std::uint32_t group = 0;  ///< bank group in the pseudo channel
  std::uint32_t bank = 0;   ///< bank in the group
  bool operator==(const DramLocation&) const = default;
};

class DramAddressMap {
 public:
  /// All counts of the organization must be powers of two. Throws std::invalid_argument, with a description of the mistake, if
  /// the string is invalid.
  DramAddressMap(const std::string& text, const DramOrganization& organization);

  struct Bank {
    std::uint64_t row;
    std::uint32_t number;  ///< bank's number in the channel: bits of pseudo channel, group, bank from the top
  };
  /// The bank and row of a burst. `burst`: address in the channel divided by the bytes of a burst.
  Bank bank_of(std::uint64_t burst) const {
    std::uint32_t number = 0;
    for (const std::uint64_t bits : bank_bits_) {
      number = number << 1 | (static_cast<std::uint32_t>(std::popcount(burst & bits)) & 1);
    }
    return {burst >> row_from_, number};
  }
  DramLocation locate(std::uint64_t burst) const;

 private:
  struct Piece {
    unsigned from;  // lowest bit of the piece in the burst number
    unsigned to;    // lowest bit of the piece in the column
    std::uint64_t mask;
  };
  unsigned row_from_ = 0;
  unsigned group_from_ = 0;   // lowest bit of the group in a bank's number
  unsigned pseudo_from_ = 0;  // lowest bit of the pseudo channel in a bank's number
  /// One mask for each bit of a bank's number, from the most significant: the bit is the parity of the burst number's bits in
  /// the mask.
  std::vector<std::uint64_t> bank_bits_;
  std::vector<Piece> column_pieces_;
};

}  // namespace lacuna
