// Where an address lies in a DRAM channel: pseudo channel, bank group, bank, row and column, as a bit-field string says.
//
//   "row bank group column pseudo"   from the most significant bits down; a field may be split: "row column:3 bank column:2"
//
// The unit is the burst: what lies below a burst has no place in the string. Field widths follow from the organization, a
// number after a colon takes so many of them, and a field without number takes those that are left. `row` comes first and takes
// all bits above the others.
//
//   "row bank^row group^row column pseudo"   the bits of bank and group are a permutation that the row chooses
//
// ^row: the row's bits, folded to as many as are so marked, are XORed onto them. Arrays that lie a power of two apart otherwise
// have the same bank and other rows in it, so that a kernel that walks through several of them meets a conflict at every turn
// (Zhang, Zhu, Zhang, "A permutation-based page interleaving scheme", MICRO 2000; models/common/transport/address_hash.h).
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
  unsigned columns = 32;  ///< bursts of a row
};

struct DramLocation {
  std::uint64_t row = 0;
  std::uint32_t column = 0;
  std::uint32_t pseudo_channel = 0;
  std::uint32_t group = 0;  ///< in the pseudo channel
  std::uint32_t bank = 0;   ///< in the group
  bool operator==(const DramLocation&) const = default;
};

class DramAddressMap {
 public:
  /// All counts of the organization are powers of two. std::invalid_argument says what is wrong with the string.
  DramAddressMap(const std::string& text, const DramOrganization& organization);

  struct Bank {
    std::uint64_t row;
    std::uint32_t number;  ///< in the channel: the pseudo channel's bits on top, then the group's, then the bank's
  };
  /// `burst`: address in the channel divided by the bytes of a burst.
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
    unsigned from;  // lowest bit in the burst number
    unsigned to;    // lowest bit in the column
    std::uint64_t mask;
  };
  unsigned row_from_ = 0;
  unsigned group_from_ = 0;  // in a bank's number
  unsigned pseudo_from_ = 0;
  /// Each bit of a bank's number, from the top, is the parity of these bits of the burst number.
  std::vector<std::uint64_t> bank_bits_;
  std::vector<Piece> column_pieces_;
};

}  // namespace lacuna
