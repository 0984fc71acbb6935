// Loads of a workspace, as the detection unit sees them.
#pragma once

#include <cstdint>
#include <optional>

#include "models/duplo/duplo_texts.h"
#include "models/duplo/tile_tags.h"

namespace lacuna {

struct TileLoad {
  TileForm form;
  std::uint64_t row;  ///< of the workspace: where it begins
  unsigned column;
  unsigned zeros;  ///< IdGenerator::zeros() of its columns
};

/// A load that touches the workspace: a tile, or the reason why it is none.
struct ClassifiedLoad {
  std::optional<TileLoad> tile;
  DuploCount reason = DuploCount::form;
};

}  // namespace lacuna
