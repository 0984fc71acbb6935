// Counts the elements that fulfil a condition, by wavefront votes (one instruction each) and one atomic operation per
// workgroup.
#pragma once

#include <hip/hip_runtime.h>

namespace workload {

constexpr unsigned counting_group = 256;  // work-items
constexpr unsigned counting_items = 8;    // elements per work-item, counting_group apart

/// Adds to `total` the number of the workgroup's elements whose index is below `length` and fulfils `condition(index)`.
template <typename Condition>
__device__ inline void count_if(unsigned length, unsigned* total, Condition condition) {
  __shared__ unsigned counts[counting_group / 64];
  const unsigned first = blockIdx.x * counting_group * counting_items + threadIdx.x;
  unsigned count = 0;
#pragma unroll
  for (unsigned i = 0; i < counting_items; ++i) {
    const unsigned at = first + i * counting_group;
    count += static_cast<unsigned>(__popcll(__ballot(at < length && condition(at))));
  }
  if (threadIdx.x % 64 == 0) counts[threadIdx.x / 64] = count;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, counts[0] + counts[1] + counts[2] + counts[3]);
}

}  // namespace workload
