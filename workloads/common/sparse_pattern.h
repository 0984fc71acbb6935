// Patterns of sparse products in compressed rows: columns and row offsets of C = A B.
//
// A row's pattern is a bitmap in LDS, in which no two products collide, and from which columns are read in order.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "workloads/common/scan.h"

namespace sparse {

constexpr unsigned largest_workgroup = 1024, scan_size = 256;
// Number of elements of B that a lane loads together.
constexpr unsigned ahead = 4;

/// A matrix in compressed rows on the GPU. `values` may be null if only patterns are computed.
struct CsrView {
  const unsigned* offsets;
  const unsigned* columns;
  const _Float16* values;
};

/// Number of a product's elements, in total and in its longest row.
struct Total {
  unsigned entries, longest_row;
};

// Returns an element of an array of less than 4 GiB: instructions add the 32-bit byte offset to a scalar base.
template <typename T>
__device__ inline T element(const T* array, unsigned at) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + at * static_cast<unsigned>(sizeof(T)));
}

// Calls use(column, product) for the products of a row of A with B, each on one lane of the workgroup; `lanes` lanes, a power
// of two, share an element of A. Without `with_values`, products are 0.
template <bool with_values, typename Use>
__device__ inline void for_each_product(const CsrView& a, const CsrView& b, unsigned row, unsigned lanes, Use use) {
  const unsigned end = a.offsets[row + 1], lane = threadIdx.x & (lanes - 1);
  for (unsigned i = a.offsets[row] + threadIdx.x / lanes; i < end; i += blockDim.x / lanes) {
    const unsigned k = a.columns[i];
    const float factor = with_values ? static_cast<float>(a.values[i]) : 0.0f;
    const unsigned last = b.offsets[k + 1];
    for (unsigned j = b.offsets[k] + lane; j < last; j += lanes * ahead) {
      unsigned columns[ahead];
      float values[ahead];
#pragma unroll
      for (unsigned n = 0; n < ahead; ++n) {
        const unsigned at = min(j + n * lanes, last - 1);
        columns[n] = element(b.columns, at);
        values[n] = with_values ? static_cast<float>(element(b.values, at)) : 0.0f;
      }
#pragma unroll
      for (unsigned n = 0; n < ahead; ++n) {
        if (j + n * lanes < last) use(columns[n], factor * values[n]);
      }
    }
  }
}

// Each workgroup computes the pattern of one row of C, and the row's number of elements. LDS holds the bitmap and that number.
__global__ void __launch_bounds__(largest_workgroup)
    find_pattern(CsrView a, CsrView b, unsigned words, unsigned lanes, unsigned* __restrict__ bitmaps,
                 unsigned* __restrict__ counts) {
  extern __shared__ unsigned lds[];
  unsigned* const bitmap = lds;
  unsigned* const count = lds + words;
  for (unsigned i = threadIdx.x; i <= words; i += blockDim.x) lds[i] = 0;
  __syncthreads();
  // In a full row, the bits of most products are already set. A load tests the bit first, because LDS serves a load for all
  // lanes together, unlike an atomic operation.
  for_each_product<false>(a, b, blockIdx.x, lanes, [=](unsigned column, float) {
    const unsigned bit = 1U << column % 32;
    if ((bitmap[column / 32] & bit) == 0) atomicOr(&bitmap[column / 32], bit);
  });
  __syncthreads();
  unsigned mine = 0;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
    mine += __popc(bitmap[i]);
    bitmaps[size_t{blockIdx.x} * words + i] = bitmap[i];
  }
  atomicAdd(count, mine);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = *count;
}

// Computes row offsets of C from the numbers of elements of its rows, in one workgroup.
__global__ void __launch_bounds__(scan_size)
    scan_counts(const unsigned* __restrict__ counts, unsigned rows, unsigned* __restrict__ offsets, Total* total) {
  __shared__ unsigned partial[scan_size / 64], longest;
  if (threadIdx.x == 0) longest = 0;
  unsigned before = 0, most = 0;
  for (unsigned base = 0; base < rows; base += scan_size * 4) {
    const unsigned first = base + threadIdx.x * 4;
    unsigned count[4], sum = 0, all = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      count[i] = first + i < rows ? counts[first + i] : 0;
      sum += count[i];
      most = max(most, count[i]);
    }
    unsigned at = before + workload::sum_before(sum, partial, all);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if (first + i < rows) offsets[first + i] = at;
      at += count[i];
    }
    before += all;
  }
  atomicMax(&longest, most);
  __syncthreads();
  if (threadIdx.x == 0) {
    offsets[rows] = before;
    *total = {before, longest};
  }
}

/// Number of lanes that share an element of A, so that each has about `ahead` elements of B's row. `row`: number of elements of
/// a row of B.
inline unsigned lanes_for(std::size_t row) {
  unsigned lanes = 1;
  while (lanes < 64 && lanes * ahead < row) lanes *= 2;
  return lanes;
}

/// Number of work-items for a row of C, so that each work-item executes a few steps. `products`: number of products of a row of
/// C.
inline unsigned workgroup_for(double products) { return products < 1024 ? 64 : products < 65536 ? 256 : largest_workgroup; }

}  // namespace sparse
