// The transpose of a matrix through LDS, with its launch: rows are read and written 128 bytes at a time, and an additional
// column avoids bank conflicts in LDS.
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/common/device_array.h"

namespace workload {

constexpr unsigned transpose_tile = 32, transpose_rows = 8;

static __global__ void __launch_bounds__(transpose_tile* transpose_rows)
    transpose(const float* __restrict__ from, float* __restrict__ to, unsigned rows, unsigned columns) {
  __shared__ float values[transpose_tile][transpose_tile + 1];
  unsigned column = blockIdx.x * transpose_tile + threadIdx.x, row = blockIdx.y * transpose_tile + threadIdx.y;
#pragma unroll
  for (unsigned i = 0; i < transpose_tile; i += transpose_rows) {
    if (row + i < rows && column < columns) values[threadIdx.y + i][threadIdx.x] = from[size_t{row + i} * columns + column];
  }
  __syncthreads();
  column = blockIdx.y * transpose_tile + threadIdx.x, row = blockIdx.x * transpose_tile + threadIdx.y;
#pragma unroll
  for (unsigned i = 0; i < transpose_tile; i += transpose_rows) {
    if (row + i < columns && column < rows) to[size_t{row + i} * rows + column] = values[threadIdx.x][threadIdx.y + i];
  }
}

/// to = the transpose of `from`, which has rows x columns elements.
inline void launch_transpose(const float* from, float* to, unsigned rows, unsigned columns) {
  transpose<<<dim3(groups(columns, transpose_tile), groups(rows, transpose_tile)), dim3(transpose_tile, transpose_rows)>>>(
      from, to, rows, columns);
}

}  // namespace workload
