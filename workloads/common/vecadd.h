// c = a + b, an element for each work-item: the chain of two loads, an addition and a store that VECADD-ALIGNED and
// VECADD-STRIDED are about.
#pragma once

#include <hip/hip_runtime.h>

#include "workloads/common/placement.h"

constexpr unsigned group_size = 256;

extern "C" __global__ void __launch_bounds__(group_size)
    vecadd(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) c[i] = a[i] + b[i];
}

/// `shift`: partitions between an element of a and that of b, and between that and c's.
inline int run_vecadd(int argc, char** argv, const char* name, const char* summary, unsigned shift) {
  workload::Program program(name, summary, "Opportunistic computing in GPU architectures (ISCA '19), Table 3");
  int length = 0;
  workload::Interleave interleave;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  interleave.options(program);
  return program.run(argc, argv, [&] {
    const std::vector<float> a = program.random().uniform_values(length, -1, 1),
                             b = program.random().uniform_values(length, -1, 1);
    const workload::PlacedArrays<float> arrays(interleave, 3, a.size(), shift);
    arrays.upload(0, a);
    arrays.upload(1, b);
    program.measure(
        [&] { vecadd<<<workload::groups(a.size(), group_size), group_size>>>(arrays[0], arrays[1], arrays[2], length); });
    if (!program.checks()) return;
    std::vector<float> expected(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) expected[i] = a[i] + b[i];
    program.check_equal("c", arrays.download(2), expected);
  });
}
