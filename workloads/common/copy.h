// c = a, one element per work-item: the chain of a load and a store measured by COPY-ALIGNED and COPY-STRIDED.
#pragma once

#include "workloads/common/element_wise.h"

extern "C" __global__ void __launch_bounds__(group_size)
    copy(const float* __restrict__ a, float* __restrict__ c, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) c[i] = a[i];
}

inline int run_copy(int argc, char** argv, const char* name, const char* summary, unsigned shift) {
  return run_element_wise<1>(
      argc, argv, name, summary, shift,
      [](const auto& arrays, unsigned length) {
        copy<<<workload::groups(length, group_size), group_size>>>(arrays[0], arrays[1], length);
      },
      [](const auto& operands, std::size_t i) { return operands[0][i]; });
}
