// Row entries (DuploEntry::row): an upper bound of the hits of any history of loads.
//
// A row of a tile of 16 x 16 is in four lanes of a register pair: lanes r, r + 16, r + 32 and r + 48 hold row r. Equal rows of
// two tiles are mostly in different lanes, between which renaming cannot move them. Each load keeps separate registers, into
// which the rows that are found move at no cost; an entry stays valid while any register holds its row.

#include "models/duplo/detection_unit.h"

namespace lacuna {
namespace {

constexpr unsigned kRows = kFormByRow.rows;
constexpr std::uint64_t kLanesOfFirstRow = 0x0001'0001'0001'0001;

}  // namespace

// Rows that only fill the last tile hold no data of the workspace: they get no entry, and are requested.
void DetectionUnit::split_rows(const ActiveConvolution& c, const TileLoad& tile, const LoadTag& common) {
  const std::uint64_t rows = c.tags.ids().convolution().rows();
  for (unsigned r = 0; r < kRows && tile.row + r < rows; ++r) {
    Piece& piece = pieces_.emplace_back(
        Piece{.tag = common, .row = tile.row + r, .column = tile.column, .number = r, .lanes = kLanesOfFirstRow << r});
    piece.tag.tile = c.tags.tag(piece.row, piece.column, {.rows = 1, .columns = kFormByRow.columns});
  }
}

std::uint16_t DetectionUnit::place_of(SharedRegisters::Pair pair, unsigned row) {
  return static_cast<std::uint16_t>(pair * kRows + row);
}

SharedRegisters::Pair DetectionUnit::pair_of(std::uint16_t place) const {
  return by_row() ? static_cast<SharedRegisters::Pair>(place / kRows) : place;
}

void DetectionUnit::overwrite_physical(std::uint16_t simd, SharedRegisters::Pair pair, Tick at, HistoryRelease why) {
  if (!by_row()) {
    history_.overwrite(simd, pair, at, why);
    return;
  }
  for (unsigned r = 0; r < kRows; ++r) history_.overwrite(simd, place_of(pair, r), at, why);
}

void DetectionUnit::count_lines_saved(const WavefrontSlot& slot, const isa::MemoryAccess& access, std::uint64_t lanes_left) {
  isa::MemoryAccess left = access;
  left.lanes = lanes_left;
  const std::size_t all = memory_.coalesce(access, memory_.addresses()).size();
  count(slot, DuploCount::lines, all - memory_.coalesce(left, memory_.addresses()).size());
}

}  // namespace lacuna
