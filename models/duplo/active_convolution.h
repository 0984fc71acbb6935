// Convolutions of running kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "models/compute/dispatch.h"
#include "models/duplo/parameter_block.h"
#include "models/duplo/tile_tags.h"

namespace lacuna {

struct ActiveConvolution {
  ActiveConvolution(std::uint8_t convolution_number, const ParameterBlock& block, DatumIds ids)
      : number(convolution_number),
        begin(block.workspace),
        end(block.lds ? block.workspace : block.workspace + block.bytes()),
        tiles_end(block.lds ? block.workspace : block.workspace + block.tile_bytes()),
        pitch_bytes(std::uint64_t{block.convolution.pitch} * LoweredConvolution::kElementBytes),
        lds(block.lds),
        tags(block.convolution, ids),
        reciprocals(tags.ids().reciprocals()) {}

  const std::uint8_t number;
  const std::uint64_t begin;      ///< GPU virtual address of the workspace
  const std::uint64_t end;        ///< address after the last row of the workspace; equal to `begin` with a workspace in LDS
  const std::uint64_t tiles_end;  ///< address after the rows that fill the last tile
  const std::uint64_t pitch_bytes;
  const std::optional<LdsBuffers> lds;  ///< buffers of a workspace in LDS; nullopt: the workspace is in memory
  const TileTags tags;
  const unsigned reciprocals;  ///< multiplications by a reciprocal per ID
};

/// Convolutions by dispatch. The map changes only between windows.
using ActiveConvolutions = std::unordered_map<const Dispatch*, std::unique_ptr<ActiveConvolution>>;

}  // namespace lacuna
