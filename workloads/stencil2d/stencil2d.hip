// Nine-point stencil on a grid in single precision, through LDS: a workgroup loads its tile and the cells around it once.
// Weights are those of SHOC's Stencil2D; the outermost cells are not changed. Sizes are MGPUSim's.
//
//   tuned   four rows of work-items load a tile's cells in their order in memory
//   suite   the kernel of SHOC: a work-item loads and computes 16 rows of one column; the first and the last also load the
//           columns next to the tile
#include <hip/hip_runtime.h>

#include <algorithm>
#include <utility>

#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned tile_columns = 64, tile_rows = 16, group_rows = 4;
constexpr float centre = 0.25f, cardinal = 0.15f, diagonal = 0.05f;

// Grids have (rows + 2) x (columns + 2) cells.
__global__ void __launch_bounds__(tile_columns* group_rows)
    stencil(const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns) {
  constexpr unsigned width = tile_columns + 2, cells = width * (tile_rows + 2);
  __shared__ float tile[tile_rows + 2][width];
  const unsigned pitch = columns + 2, first_row = blockIdx.y * tile_rows, first_column = blockIdx.x * tile_columns;
  for (unsigned i = threadIdx.y * tile_columns + threadIdx.x; i < cells; i += tile_columns * group_rows) {
    const unsigned row = first_row + i / width, column = first_column + i % width;
    if (row < rows + 2 && column < pitch) tile[i / width][i % width] = from[size_t{row} * pitch + column];
  }
  __syncthreads();
  const unsigned x = threadIdx.x, column = first_column + x;
  if (column >= columns) return;
#pragma unroll
  for (unsigned i = 0; i < tile_rows; i += group_rows) {
    const unsigned y = threadIdx.y + i, row = first_row + y;
    if (row >= rows) return;
    const float straight = tile[y][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] + tile[y + 2][x + 1];
    const float slanting = tile[y][x] + tile[y][x + 2] + tile[y + 2][x] + tile[y + 2][x + 2];
    to[size_t{row + 1} * pitch + column + 1] = centre * tile[y + 1][x + 1] + (cardinal * straight + diagonal * slanting);
  }
}

__global__ void __launch_bounds__(tile_columns)
    stencil_columns(const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns) {
  __shared__ float tile[tile_rows + 2][tile_columns + 2];
  const unsigned pitch = columns + 2, first_row = blockIdx.y * tile_rows, first_column = blockIdx.x * tile_columns;
  const unsigned x = threadIdx.x, width = min(tile_columns, columns - first_column);
  // Loads column i of the tile. Rows beyond the grid read the last row; they are not used.
  const auto load = [&](unsigned i) {
#pragma unroll
    for (unsigned y = 0; y < tile_rows + 2; ++y) {
      const unsigned row = min(first_row + y, rows + 1);
      tile[y][i] = from[size_t{row} * pitch + first_column + i];
    }
  };
  if (x < width) load(x + 1);
  // Columns next to the tile are vector loads of one lane.
  if (x == 0) load(workload::unknown(0u));
  if (x == width - 1) load(workload::unknown(width + 1));
  __syncthreads();
  if (x >= width) return;
#pragma unroll
  for (unsigned y = 0; y < tile_rows; ++y) {
    const unsigned row = first_row + y;
    if (row >= rows) return;
    const float straight = tile[y][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] + tile[y + 2][x + 1];
    const float slanting = tile[y][x] + tile[y][x + 2] + tile[y + 2][x] + tile[y + 2][x + 2];
    to[size_t{row + 1} * pitch + first_column + x + 1] =
        centre * tile[y + 1][x + 1] + (cardinal * straight + diagonal * slanting);
  }
}

int main(int argc, char** argv) {
  workload::Program program("stencil2d", "Nine-point stencil on a grid", "LazyGPU (ISCA '25), Table 3: Stencil2D of SHOC");
  int rows = 0, columns = 0, iterations = 0;
  program.size(rows, "rows", "rows without the border", {256, 64, 1024}, 1, 1 << 16);
  program.size(columns, "columns", "columns without the border", {256, 64, 1024}, 1, 1 << 16);
  program.size(iterations, "iterations", "iterations", {2, 5, 5});
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the grid");
  return program.run(argc, argv, [&] {
    const size_t pitch = size_t(columns) + 2, count = pitch * (size_t(rows) + 2);
    const std::vector<float> start = program.sparsified(program.random().uniform_values(count, -1, 1));
    const workload::DeviceArray<float> grid("the grid", count), next("the next grid", count);
    const workload::DeviceArray<float>* result = nullptr;
    program.measure([&] { grid.upload(start), next.upload(start); },
                    [&] {
                      const workload::DeviceArray<float>*from = &grid, *to = &next;
                      const bool suite = form == "suite";
                      const dim3 groups(workload::groups(columns, tile_columns), workload::groups(rows, tile_rows));
                      for (int i = 0; i < iterations; ++i) {
                        (suite ? stencil_columns : stencil)<<<groups, dim3(tile_columns, suite ? 1 : group_rows)>>>(
                            from->data(), to->data(), rows, columns);
                        std::swap(from, to);
                      }
                      result = from;
                    });
    if (!program.checks()) return;
    std::vector<double> expected(start.begin(), start.end()), following(expected);
    for (int i = 0; i < iterations; ++i) {
      for (size_t row = 1; row <= size_t(rows); ++row) {
        for (size_t column = 1; column <= size_t(columns); ++column) {
          const double *above = &expected[(row - 1) * pitch + column], *here = above + pitch, *below = here + pitch;
          following[row * pitch + column] = double{centre} * here[0] +
                                            double{cardinal} * (above[0] + here[-1] + here[1] + below[0]) +
                                            double{diagonal} * (above[-1] + above[1] + below[-1] + below[1]);
        }
      }
      expected.swap(following);
    }
    // The weights' sum is 1.05, so that after i iterations no value exceeds 1.05^i, and earlier errors have grown at most by
    // that factor.
    const double error = iterations * workload::sum_error(12) * std::pow(1.05, iterations);
    program.check_near("the grid", result->download(), expected, [&](size_t) { return error; });
  });
}
