// Loads of a workspace as the detection unit classifies them: tiles, by the form of their addresses, and other loads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/duplo/duplo_texts.h"
#include "models/duplo/shared_registers.h"
#include "models/duplo/tile_tags.h"
#include "models/isa/analysis/register_use.h"
#include "models/isa/target.h"

namespace lacuna {

struct TileLoad {
  TileForm form;
  std::uint64_t row;  ///< first row in the workspace
  unsigned column;    ///< first column in the workspace
  unsigned zeros;     ///< IdGenerator::zeros() of the tile's columns
};

/// The form of the tile that all lanes load with `bytes` bytes each; nullopt: they load no tile. Lane l of a tile's load is at
/// base + (l mod R) pitch + (l / R) bytes, with R = 16 or 32 rows `pitch` bytes apart, and bytes = 8 or 16.
template <typename Address>
std::optional<TileForm> tile_form(const std::array<Address, isa::kLanes>& addresses, unsigned bytes, Address pitch) {
  if (bytes != 8 && bytes != 16) return std::nullopt;
  const Address base = addresses[0];
  const unsigned rows = addresses[16] == base + bytes ? 16 : 32;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    if (addresses[lane] != base + lane % rows * pitch + lane / rows * bytes) return std::nullopt;
  }
  const unsigned columns = isa::kLanes / rows * bytes / LoweredConvolution::kElementBytes;
  return TileForm{.rows = static_cast<std::uint8_t>(rows), .columns = static_cast<std::uint8_t>(columns)};
}

/// Form of the loads whose rows have entries with DuploEntry::row.
inline constexpr TileForm kFormByRow{.rows = 16, .columns = 16};

/// A load that accesses the workspace: a tile, or the reason why it is no tile.
struct ClassifiedLoad {
  std::optional<TileLoad> tile;
  DuploCount reason = DuploCount::form;

  static ClassifiedLoad none(DuploCount reason) { return {.tile = std::nullopt, .reason = reason}; }
  /// Classifies a load that has the form of a tile. `row`, `column`: position of its first element in the workspace.
  static ClassifiedLoad of(const IdGenerator& ids, std::uint64_t row, unsigned column, const TileForm& form,
                           const isa::RegisterRange& destination) {
    if (destination.first % kPairRegisters != 0) return none(DuploCount::registers);
    if (row >= ids.convolution().rows() || column >= ids.convolution().columns()) return none(DuploCount::filler);
    return {.tile = TileLoad{.form = form, .row = row, .column = column, .zeros = ids.zeros(form.columns)},
            .reason = DuploCount::look_ups};
  }
};

}  // namespace lacuna
