// Tags of whole tiles: an instruction that loads an operand of a matrix product loads a tile of the workspace. A register that
// holds a tile can replace the load of another tile only if all elements are equal.
//
// Two tiles of one form are equal if and only if
// - their first elements are equal,
// - the filter's columns are equal, where a row of the tile crosses a row of the filter, or the tile's rows cross an output
//   row, and
// - the filter's rows are equal, where the tile's rows cross the end of the image (images innermost: of the last output row),
//   or its columns the last column of the workspace.
// The paper compares only the first elements.
#pragma once

#include <cstdint>

#include "models/duplo/id_generator.h"

namespace lacuna {

/// Rows and columns of the workspace that one load of a wavefront loads: lane l loads from row `row + l mod rows`, and the
/// columns of a row are adjacent.
struct TileForm {
  std::uint8_t rows = 16;
  std::uint8_t columns = 16;
  bool operator==(const TileForm&) const = default;
};

struct TileTag {
  static constexpr std::uint16_t kAny = 0xffff;  ///< value that means "irrelevant"
  TileForm form;
  DatumId first;
  std::uint16_t filter_x = kAny;
  std::uint16_t filter_y = kAny;
  bool operator==(const TileTag&) const = default;
};

class TileTags {
 public:
  /// The problem() of `convolution` must be nullopt. With IDs other than `exact`, tags compare only first elements.
  TileTags(const LoweredConvolution& convolution, DatumIds ids)
      : ids_(convolution, ids), first_alone_(ids != DatumIds::exact) {}

  /// Tag of the tile whose first element is at a position with data: row < rows(), column < columns().
  TileTag tag(std::uint64_t row, unsigned column, const TileForm& form) const;
  const IdGenerator& ids() const { return ids_; }

 private:
  IdGenerator ids_;
  bool first_alone_;
};

}  // namespace lacuna
