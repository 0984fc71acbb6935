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
// (Zhang, Zhu, Zhang, "A permutation-based page interleaving scheme", MICRO 2000; models/common/address_hash.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/address_hash.h"

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

  /// `burst`: address in the channel divided by the bytes of a burst.
  DramLocation locate(std::uint64_t burst) const {
    std::uint64_t field[kFields] = {};
    for (const Piece& piece : pieces_) {
      field[piece.field] |= ((burst >> piece.from) & piece.mask) << piece.to;
    }
    if (!hashed_.empty()) {
      const std::uint64_t hash = xor_fold(field[kRow], hash_bits_);
      for (const Piece& piece : hashed_) field[piece.field] ^= ((hash >> piece.from) & piece.mask) << piece.to;
    }
    return {field[kRow], static_cast<std::uint32_t>(field[kColumn]), static_cast<std::uint32_t>(field[kPseudo]),
            static_cast<std::uint32_t>(field[kGroup]), static_cast<std::uint32_t>(field[kBank])};
  }

 private:
  enum Field : unsigned { kRow, kColumn, kPseudo, kGroup, kBank, kFields };
  struct Piece {
    Field field;
    unsigned from;  // lowest bit in the burst number
    unsigned to;    // lowest bit in the field
    std::uint64_t mask;
  };
  std::vector<Piece> pieces_;
  std::vector<Piece> hashed_;  // `from` counts in the hash
  unsigned hash_bits_ = 0;
};

}  // namespace lacuna
