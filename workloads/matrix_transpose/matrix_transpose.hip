// Transpose of a matrix through LDS: rows are read and written 128 bytes at a time, and a column more than needed keeps LDS's
// banks apart. AMD APP SDK's MatrixTranspose, the default width of MGPUSim.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned tile = 32, group_rows = 8;

__global__ void __launch_bounds__(tile* group_rows)
    transpose(const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns) {
  __shared__ float values[tile][tile + 1];
  unsigned column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
#pragma unroll
  for (unsigned i = 0; i < tile; i += group_rows) {
    if (row + i < rows && column < columns) values[threadIdx.y + i][threadIdx.x] = from[size_t{row + i} * columns + column];
  }
  __syncthreads();
  column = blockIdx.y * tile + threadIdx.x, row = blockIdx.x * tile + threadIdx.y;
#pragma unroll
  for (unsigned i = 0; i < tile; i += group_rows) {
    if (row + i < columns && column < rows) to[size_t{row + i} * rows + column] = values[threadIdx.x][threadIdx.y + i];
  }
}

int main(int argc, char** argv) {
  workload::Program program("matrix_transpose", "Transpose of a matrix through LDS",
                            "LazyGPU (ISCA '25), Table 3: MatrixTranspose of AMD APP SDK");
  int rows = 0, columns = 0;
  program.size(rows, "rows", "rows of the input", {256, 256, 2048}, 1, 1 << 20);
  program.size(columns, "columns", "columns of the input", {320, 256, 2048}, 1, 1 << 20);
  program.takes_sparsity("the matrix");
  return program.run(argc, argv, [&] {
    const size_t count = size_t(rows) * columns;
    const std::vector<float> matrix = program.sparsified(program.random().uniform_values(count, -1, 1));
    const workload::DeviceArray<float> from("the matrix", matrix), to("the result", count);
    program.measure([&] {
      transpose<<<dim3(workload::groups(columns, tile), workload::groups(rows, tile)), dim3(tile, group_rows)>>>(
          from.data(), to.data(), rows, columns);
    });
    if (!program.checks()) return;
    std::vector<float> expected(count);
    for (size_t i = 0; i < count; ++i) expected[i % columns * rows + i / columns] = matrix[i];
    program.check_equal("the result", to.download(), expected);
  });
}
