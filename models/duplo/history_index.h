// Hashes that map a tag to a set of the load history buffer (section IV.B of the paper), and the rest of the tag, which the
// entry stores. The set's number is:
//
//   low    the low bits of the element's ID. IDs of tiles are multiples of 8, 16 or 32, so most sets stay empty
//   shift  the bits of the ID above those that are 0 for all tiles
//   xor    as shift, XORed with the remaining high bits of the ID and with the image. With images innermost, the rows of a tile
//          belong to different images and have the same element: for tags of single rows, the low bits of the image are folded
//          into the high bits of the set, which do not vary between elements of neighbouring tiles
// The paper mentions a hash without specifying it. With each hash here, set and rest determine the tag.
#pragma once

#include <cstdint>

#include "models/duplo/tile_tags.h"

namespace lacuna {

enum class HistoryHash : std::uint8_t { low, shift, xor_ };

/// Key of a look-up: a tile of a convolution.
struct LoadTag {
  std::uint8_t convolution = 0;  ///< number of the convolution while its kernel runs
  std::uint8_t simd = 0;         ///< SIMD with duplo.scope = simd; 0 with duplo.scope = core, so that loads of all SIMDs hit
  TileTag tile;
  bool operator==(const LoadTag&) const = default;
};

class HistoryIndex {
 public:
  /// `sets`: number of sets, a power of two.
  HistoryIndex(HistoryHash hash, unsigned sets);

  /// `zeros`: number of low bits of the elements' IDs that are 0 for all tiles of the convolution.
  unsigned set(const LoadTag& tag, unsigned zeros) const;
  /// The element's ID without the bits that the set determines.
  std::uint32_t rest(const LoadTag& tag, unsigned zeros) const;
  /// ID of the element whose tag, with this image and form, has this set and rest: the inverse of set() and rest().
  std::uint32_t element(unsigned set, std::uint32_t rest, std::uint32_t image, const TileForm& form, unsigned zeros) const;

 private:
  unsigned shift(unsigned zeros) const { return hash_ == HistoryHash::low ? 0 : zeros; }
  std::uint32_t folded(std::uint32_t upper, std::uint32_t image, const TileForm& form) const;

  HistoryHash hash_;
  unsigned bits_;  ///< bits of a set's number
};

}  // namespace lacuna
