// Distances and selection as in the first version of KNN-CUDA (V. Garcia, E. Debreuve and M. Barlaud, CVPR workshops 2008),
// implemented from the paper's description.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

namespace knn {

constexpr unsigned kTile = 16;        ///< queries, and references, of a workgroup
constexpr unsigned kInserters = 256;  ///< queries of a workgroup of insert()

/// Squared distances of all pairs, row-major: one row per reference, with adjacent queries. Points are stored by dimension:
/// element dimension * count + point. A work-item computes one pair; tiles of 16 points and 16 dimensions pass through LDS.
__device__ inline void distances_of_pairs(const float* __restrict__ queries, const float* __restrict__ references,
                                          unsigned query_count, unsigned reference_count, unsigned dimensions,
                                          float* __restrict__ distances) {
  __shared__ float of_queries[kTile][kTile], of_references[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned query = blockIdx.x * kTile + x, first_reference = blockIdx.y * kTile;
  float sum = 0;
  for (unsigned first = 0; first < dimensions; first += kTile) {
    const unsigned dimension = first + y;
    const bool inside = dimension < dimensions;
    of_queries[y][x] = inside && query < query_count ? queries[static_cast<size_t>(dimension) * query_count + query] : 0.0f;
    of_references[y][x] = inside && first_reference + x < reference_count
                              ? references[static_cast<size_t>(dimension) * reference_count + first_reference + x]
                              : 0.0f;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; ++k) {
      const float difference = of_references[k][y] - of_queries[k][x];
      sum += difference * difference;
    }
    __syncthreads();
  }
  const unsigned reference = first_reference + y;
  if (query < query_count && reference < reference_count) distances[static_cast<size_t>(reference) * query_count + query] = sum;
}

/// A work-item sorts its query's column by insertion into the first `neighbours` rows, which hold the nearest references found
/// so far.
__device__ inline void insert(float* __restrict__ distances, unsigned queries, unsigned references, float* __restrict__ nearest,
                              unsigned* __restrict__ indices, unsigned neighbours) {
  const unsigned query = blockIdx.x * kInserters + threadIdx.x;
  if (query >= queries) return;
  const auto at = [=](unsigned row) { return static_cast<size_t>(row) * queries + query; };
  unsigned* const of_query = indices + static_cast<size_t>(query) * neighbours;
  float largest = 0;
  for (unsigned reference = 0; reference < references; ++reference) {
    const float distance = distances[at(reference)];
    if (reference >= neighbours && !(distance < largest)) continue;
    unsigned place = reference < neighbours ? reference : neighbours - 1;
    for (; place > 0 && distance < distances[at(place - 1)]; --place) {
      distances[at(place)] = distances[at(place - 1)];
      of_query[place] = of_query[place - 1];
    }
    distances[at(place)] = distance;
    of_query[place] = reference;
    largest = distances[at((reference < neighbours ? reference + 1 : neighbours) - 1)];
  }
  for (unsigned i = 0; i < neighbours; ++i) nearest[static_cast<size_t>(query) * neighbours + i] = distances[at(i)];
}

}  // namespace knn
