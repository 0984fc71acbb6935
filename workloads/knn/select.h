// Selects the K smallest elements of each row of a matrix, in registers of a wavefront.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>

namespace knn {

constexpr unsigned kMost = 16;      ///< maximum number of neighbours, one per lane of a row of 16
constexpr unsigned kSelectors = 4;  ///< wavefronts of a workgroup

/// Rows of `width` distances, `ld` elements apart (a multiple of 4). select() adds `of_columns[column]` unless `of_columns` is
/// null.
struct Distances {
  const float* values;
  const float* of_columns;
  const float* of_rows;  ///< added to the results of a row, unless null
  unsigned rows, width, ld;
};

/// Returns the value of the lane to the left in a row of 16 lanes; the first lane of a row receives `first`.
__device__ inline unsigned from_left(unsigned value, unsigned first) {
  constexpr int row_shift_right_1 = 0x111;
  return __builtin_amdgcn_update_dpp(first, value, row_shift_right_1, 0xf, 0xf, false);
}

/// One wavefront per row of distances. The smallest distances so far are kept sorted, one in each lane of a row of 16 lanes,
/// identically in all four rows: a distance smaller than the last of them is inserted by a shift. Of n numbers in random order,
/// about K (1 + ln(n / K)) are inserted, so that most of the work is loading and comparing. Writes `neighbours` (1 to 16)
/// distances in ascending order, and columns, for each row.
__device__ inline void select(const Distances& x, float* __restrict__ nearest, unsigned* __restrict__ columns,
                              unsigned neighbours) {
  const unsigned lane = threadIdx.x % 64;
  const unsigned row = __builtin_amdgcn_readfirstlane(blockIdx.x * kSelectors + threadIdx.x / 64);
  if (row >= x.rows) return;
  const float* const from = x.values + size_t{row} * x.ld;
  float best = INFINITY;
  unsigned where = ~0u;
  float limit = INFINITY;  // largest of the distances kept so far, in all lanes
  const auto load = [&](unsigned first) {
    // The columns up to the end of the line are allocated; loads beyond the line read the last four columns instead.
    const unsigned column = min(first + 4 * lane, x.ld - 4);
    float4 values = *reinterpret_cast<const float4*>(from + column);
    if (x.of_columns != nullptr) {
      const float4 more = *reinterpret_cast<const float4*>(x.of_columns + column);
      values.x += more.x, values.y += more.y, values.z += more.z, values.w += more.w;
    }
    return values;
  };
  float4 next = load(0);
  for (unsigned first = 0; first < x.width; first += 256) {
    const float4 values = next;
    next = load(min(first + 256, x.width));
    const float of_lane[] = {values.x, values.y, values.z, values.w};
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) {
      const unsigned column = first + 4 * lane + t;
      const float value = column < x.width ? of_lane[t] : INFINITY;
      for (unsigned long candidates = __ballot(value < limit); candidates != 0;
           candidates = __ballot(value < limit) & (candidates & (candidates - 1))) {
        const int source = __builtin_ctzl(candidates);
        const unsigned bits = __builtin_amdgcn_readlane(__builtin_bit_cast(unsigned, value), source);
        const unsigned from_column = first + 4 * source + t;
        const float candidate = __builtin_bit_cast(float, bits);
        // Larger distances move to the right, and the candidate takes the place of the first of them.
        const bool larger = candidate < best;
        const unsigned left_bits = from_left(__builtin_bit_cast(unsigned, best), 0xff800000);  // -inf is not larger
        const unsigned left_column = from_left(where, 0);
        const bool left_larger = candidate < __builtin_bit_cast(float, left_bits);
        if (larger) {
          best = __builtin_bit_cast(float, left_larger ? left_bits : bits);
          where = left_larger ? left_column : from_column;
        }
        limit = __builtin_bit_cast(
            float, __builtin_amdgcn_readlane(__builtin_bit_cast(unsigned, best), static_cast<int>(neighbours - 1)));
      }
    }
  }
  if (lane >= neighbours) return;
  nearest[size_t{row} * neighbours + lane] = x.of_rows == nullptr ? best : best + x.of_rows[row];
  columns[size_t{row} * neighbours + lane] = where;
}

/// norms[point] = the sum of the point's squared coordinates: one wavefront per point; points are `ld` elements apart.
__device__ inline void square_norms(const float* __restrict__ points, float* __restrict__ norms, unsigned count,
                                    unsigned dimensions, unsigned ld) {
  const unsigned lane = threadIdx.x % 64, point = blockIdx.x * kSelectors + threadIdx.x / 64;
  if (point >= count) return;
  float sum = 0;
  for (unsigned d = lane; d < dimensions; d += 64) {
    const float value = points[size_t{point} * ld + d];
    sum += value * value;
  }
#pragma unroll
  for (unsigned distance = 32; distance > 0; distance /= 2) sum += __shfl_xor(sum, static_cast<int>(distance));
  if (lane == 0) norms[point] = sum;
}

}  // namespace knn
