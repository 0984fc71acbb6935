// Sums over lanes of a wavefront, for kernels.
#pragma once

#include <hip/hip_runtime.h>

namespace workload {

/// The sum over each group of `lanes` adjacent lanes, a power of two up to 64, returned in all of them. All lanes must be
/// active.
template <unsigned lanes>
__device__ inline float lane_sum(float value) {
#pragma unroll
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) value += __shfl_xor(value, static_cast<int>(distance));
  return value;
}

/// The dot product of a row's values with `x`, computed by `lanes` adjacent lanes and returned in all of them.
template <unsigned lanes>
__device__ inline float row_dot(const unsigned* __restrict__ columns, const float* __restrict__ values,
                                const float* __restrict__ x, unsigned begin, unsigned end, unsigned lane) {
  float sum = 0;
  for (unsigned i = begin + lane; i < end; i += lanes) sum += values[i] * x[columns[i]];
  return lane_sum<lanes>(sum);
}

}  // namespace workload
