// The best paths between all vertices computed as in CUDA-FW, the baseline that the SIMD2 thesis names for MCP, MaxRP and MinRP
// (section 3.5.2): Floyd-Warshall in tiles of 16 x 16 vertices, one work-item per element, with a matrix of predecessors (the
// next-to-last vertex of each path). Implemented from the description of the algorithm (P. Harish and P. J. Narayanan, HiPC
// 2007; G. J. Katz and J. T. Kider, Graphics Hardware 2008), not from the program.
#pragma once

#include "workloads/common/graph.h"
#include "workloads/common/program.h"
#include "workloads/common/simd2_vector.h"

namespace closure {

/// Both matrices are row-major; their row pitch is `ld` elements, a multiple of predecessor_tile.
struct PathsView {
  float* best;
  unsigned* predecessor;
  unsigned ld;
};

constexpr unsigned predecessor_tile = 16;

/// A tile of both matrices in LDS. Rows are an odd number of dwords apart, which avoids bank conflicts along columns.
struct PathsTile {
  float best[predecessor_tile][predecessor_tile + 1];
  unsigned predecessor[predecessor_tile][predecessor_tile + 1];
};

// Index of the work-item's element in the tile at (row, column) of tiles.
__device__ inline size_t element_of(const PathsView& paths, unsigned row, unsigned column) {
  return static_cast<size_t>(row * predecessor_tile + threadIdx.y) * paths.ld + column * predecessor_tile + threadIdx.x;
}

// Replaces a path by the path via vertex k if that is better. `to_k` and `from_k` are the values of the two parts of the path
// via k.
template <simd2::opcode op>
__device__ inline void take_better(float& best, unsigned& predecessor, float to_k, float from_k, unsigned predecessor_from_k) {
  const float after = simd2_vector::combined<op>(best, to_k, from_k);
  if (after != best) best = after, predecessor = predecessor_from_k;
}

// Updates the tile on the diagonal.
template <simd2::opcode op>
__global__ void __launch_bounds__(256) predecessor_diagonal(PathsView paths, unsigned middle) {
  __shared__ PathsTile tile;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t at = element_of(paths, middle, middle);
  float best = paths.best[at];
  unsigned predecessor = paths.predecessor[at];
  tile.best[y][x] = best, tile.predecessor[y][x] = predecessor;
  for (unsigned k = 0; k < predecessor_tile; ++k) {
    __syncthreads();
    take_better<op>(best, predecessor, tile.best[y][k], tile.best[k][x], tile.predecessor[k][x]);
    __syncthreads();
    tile.best[y][x] = best, tile.predecessor[y][x] = predecessor;
  }
  paths.best[at] = best, paths.predecessor[at] = predecessor;
}

// Updates the tiles in the diagonal tile's row of tiles (blockIdx.y 0) and column of tiles (1).
template <simd2::opcode op>
__global__ void __launch_bounds__(256) predecessor_cross(PathsView paths, unsigned middle) {
  __shared__ PathsTile diagonal, tile;
  if (blockIdx.x == middle) return;
  const bool in_row = blockIdx.y == 0;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t at = in_row ? element_of(paths, middle, blockIdx.x) : element_of(paths, blockIdx.x, middle);
  const size_t at_diagonal = element_of(paths, middle, middle);
  float best = paths.best[at];
  unsigned predecessor = paths.predecessor[at];
  diagonal.best[y][x] = paths.best[at_diagonal], diagonal.predecessor[y][x] = paths.predecessor[at_diagonal];
  tile.best[y][x] = best, tile.predecessor[y][x] = predecessor;
  for (unsigned k = 0; k < predecessor_tile; ++k) {
    __syncthreads();
    const PathsTile &left = in_row ? diagonal : tile, &right = in_row ? tile : diagonal;
    take_better<op>(best, predecessor, left.best[y][k], right.best[k][x], right.predecessor[k][x]);
    __syncthreads();
    tile.best[y][x] = best, tile.predecessor[y][x] = predecessor;
  }
  paths.best[at] = best, paths.predecessor[at] = predecessor;
}

// Updates all tiles outside the diagonal tile's row and column.
template <simd2::opcode op>
__global__ void __launch_bounds__(256) predecessor_rest(PathsView paths, unsigned middle) {
  __shared__ PathsTile left, right;
  if (blockIdx.x == middle || blockIdx.y == middle) return;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const size_t at = element_of(paths, blockIdx.y, blockIdx.x);
  left.best[y][x] = paths.best[element_of(paths, blockIdx.y, middle)];
  const size_t at_right = element_of(paths, middle, blockIdx.x);
  right.best[y][x] = paths.best[at_right], right.predecessor[y][x] = paths.predecessor[at_right];
  float best = paths.best[at];
  unsigned predecessor = paths.predecessor[at];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < predecessor_tile; ++k)
    take_better<op>(best, predecessor, left.best[y][k], right.best[k][x], right.predecessor[k][x]);
  paths.best[at] = best, paths.predecessor[at] = predecessor;
}

/// Computes the best paths in place, or runs the first 1 / `slices` of the rounds. On entry, `paths` must contain the graph's
/// edges: their weights and predecessors. Returns the number of all rounds as a multiple of those that were run.
template <simd2::opcode op>
double predecessor_floyd_warshall(const PathsView& paths, unsigned slices = 1) {
  const unsigned tiles = paths.ld / predecessor_tile, rounds = workload::groups(tiles, slices);
  const dim3 workgroup(predecessor_tile, predecessor_tile);
  for (unsigned middle = 0; middle < rounds; ++middle) {
    predecessor_diagonal<op><<<1, workgroup>>>(paths, middle);
    if (tiles == 1) break;
    predecessor_cross<op><<<dim3(tiles, 2), workgroup>>>(paths, middle);
    predecessor_rest<op><<<dim3(tiles, tiles), workgroup>>>(paths, middle);
  }
  return static_cast<double>(tiles) / rounds;
}

/// Checks that each path without its last edge is also a best path: for every pair whose path has edges, the best path to the
/// predecessor, extended by the edge from the predecessor, must have the value of the pair's path.
template <typename Extended>
bool predecessors_are_right(const std::vector<float>& best, const std::vector<unsigned>& predecessor,
                            const std::vector<float>& edges, unsigned vertices, unsigned ld, float absent, Extended extended) {
  for (unsigned from = 0; from < vertices; ++from) {
    for (unsigned to = 0; to < vertices; ++to) {
      const size_t at = size_t{from} * ld + to;
      if (from == to || best[at] == absent) continue;
      const unsigned last = predecessor[at];
      if (last >= vertices || extended(best[size_t{from} * ld + last], edges[size_t{last} * ld + to]) != best[at]) return false;
    }
  }
  return true;
}

}  // namespace closure
