// c = a + b, one element per work-item: the chain of two loads, an addition and a store measured by VECADD-ALIGNED and
// VECADD-STRIDED.
#pragma once

#include "workloads/common/element_wise.h"

extern "C" __global__ void __launch_bounds__(group_size)
    vecadd(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) c[i] = a[i] + b[i];
}

inline int run_vecadd(int argc, char** argv, const char* name, const char* summary, unsigned shift) {
  return run_element_wise<2>(
      argc, argv, name, summary, shift,
      [](const auto& arrays, unsigned length) {
        vecadd<<<workload::groups(length, group_size), group_size>>>(arrays[0], arrays[1], arrays[2], length);
      },
      [](const auto& operands, std::size_t i) { return operands[0][i] + operands[1][i]; });
}
