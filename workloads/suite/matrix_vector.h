// Products of a matrix, and of its transpose, with vectors in the form of PolyBench/GPU: one work-item per row and, in another
// kernel, per column. In the first, adjacent lanes' addresses are a row apart.
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/common/device_array.h"
#include "workloads/suite/operands.h"

namespace workload {

/// *x = sum + the products of `count` elements of a matrix with those of y; `elements` returns the matrix element of a step. As
/// in PolyBench/GPU, pointers are not `restrict`, so that *x is stored after each product. The loop only loads the matrix
/// element and y: *x stays in a register, because loads of all three would be waited for together.
template <typename Elements>
static __device__ void add_products(float* x, const float* y, unsigned count, float sum, Elements elements) {
#pragma clang fp contract(off)  // gfx90a's fused multiply-add cannot be offloaded; gfx803's v_mac_f32 rounds the product anyway
  for (unsigned j = 0; j < count; ++j) {
    sum = sum + elements(j) * y[unknown(j)];
    *x = sum;
  }
}

static __global__ void __launch_bounds__(256)
    product_by_rows(const float* matrix, const float* y, float* x, unsigned rows, unsigned columns) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < rows) add_products(x + i, y, columns, 0, [=](unsigned j) { return matrix[size_t{i} * columns + j]; });
}

static __global__ void __launch_bounds__(256)
    product_by_columns(const float* matrix, const float* y, float* x, unsigned rows, unsigned columns) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < columns) add_products(x + i, y, rows, 0, [=](unsigned j) { return matrix[size_t{j} * columns + i]; });
}

/// x = A y; the matrix has rows x columns elements.
inline void launch_product_by_rows(const float* matrix, const float* y, float* x, unsigned rows, unsigned columns) {
  product_by_rows<<<groups(rows, 256), 256>>>(matrix, y, x, rows, columns);
}
/// x = A^T y.
inline void launch_product_by_columns(const float* matrix, const float* y, float* x, unsigned rows, unsigned columns) {
  product_by_columns<<<groups(columns, 256), 256>>>(matrix, y, x, rows, columns);
}

}  // namespace workload
