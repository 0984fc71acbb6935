// Tiles of the matrix unit's extensions in random programs: each tile is an instruction of a wavefront on the GPU, and a
// function of its 64 work-items on the host. The code follows docs/guide/matrix-unit.md and shares nothing with the executors.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "opencl_type.h"

namespace lacuna::programs {

inline constexpr unsigned kTileItems = 64;  ///< work items that compute a tile together: a wavefront

/// D = NAME(A, B, C). `a`, `b`, `c`: types of a work item's part of each matrix. random_program.h has the functions for the
/// GPU, host_builtins.h has those for the host; both refer to tiles by their index in matrix_tiles().
struct MatrixTile {
  const char* name;
  Type a, b, c;  ///< D has the type of C
};
std::span<const MatrixTile> matrix_tiles();

/// A work item's part of the operands as bits, the first element in the lowest bits.
struct TileOperands {
  unsigned tile = 0;  ///< index in matrix_tiles()
  std::array<std::uint32_t, 2> a{}, b{};
  std::array<std::uint32_t, 8> c{};
};

/// Elements of D that belong to the work item `lane`.
std::array<std::uint32_t, 8> tile_result(std::span<const TileOperands, kTileItems> items, unsigned lane);

}  // namespace lacuna::programs
