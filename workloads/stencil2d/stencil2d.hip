// Nine-point stencil on a grid in single precision, through LDS: a workgroup loads its tile and the cells around it once.
// Weights are those of SHOC's Stencil2D; the outermost cells are not changed. Sizes are MGPUSim's.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <utility>

#include "workloads/common/program.h"

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

int main(int argc, char** argv) {
  workload::Program program("stencil2d", "Nine-point stencil on a grid", "LazyGPU (ISCA '25), Table 3: Stencil2D of SHOC");
  int rows = 0, columns = 0, iterations = 0;
  program.size(rows, "rows", "rows without the border", {256, 64, 1024}, 1, 1 << 16);
  program.size(columns, "columns", "columns without the border", {256, 64, 1024}, 1, 1 << 16);
  program.size(iterations, "iterations", "iterations", {2, 5, 5});
  program.takes_sparsity("the grid");
  return program.run(argc, argv, [&] {
    const size_t pitch = size_t(columns) + 2, count = pitch * (size_t(rows) + 2);
    const std::vector<float> start = program.sparsified(program.random().uniform_values(count, -1, 1));
    const workload::DeviceArray<float> grid("the grid", count), next("the next grid", count);
    const workload::DeviceArray<float>* result = nullptr;
    program.measure([&] { grid.upload(start), next.upload(start); },
                    [&] {
                      const workload::DeviceArray<float>*from = &grid, *to = &next;
                      for (int i = 0; i < iterations; ++i) {
                        stencil<<<dim3(workload::groups(columns, tile_columns), workload::groups(rows, tile_rows)),
                                  dim3(tile_columns, group_rows)>>>(from->data(), to->data(), rows, columns);
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
