// Prefix sums of a workgroup.
#pragma once

#include <hip/hip_runtime.h>

namespace workload {

/// Returns the sum of `value` over the work-items before this one; `all` receives the total. `partial` is LDS with one word per
/// wavefront.
__device__ inline unsigned sum_before(unsigned value, unsigned* partial, unsigned& all) {
  const unsigned lane = threadIdx.x % 64, wavefront = threadIdx.x / 64;
  unsigned sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < 64; distance *= 2) {
    const unsigned before = __shfl_up(sum, distance);
    if (lane >= distance) sum += before;
  }
  if (lane == 63) partial[wavefront] = sum;
  __syncthreads();
  unsigned before = 0;
  all = 0;
  for (unsigned i = 0; i < blockDim.x / 64; ++i) {
    const unsigned part = partial[i];
    if (i < wavefront) before += part;
    all += part;
  }
  __syncthreads();
  return before + sum - value;
}

}  // namespace workload
