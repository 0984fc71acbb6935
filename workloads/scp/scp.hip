// SCP: scalar products of pairs of vectors, one workgroup per pair. This is scalarProd of the CUDA samples, with its default of
// 256 pairs of 4096 elements. Partial sums are added first within wavefronts, then in LDS.
#include <hip/hip_runtime.h>

#include "workloads/common/lanes.h"
#include "workloads/common/program.h"
#include "workloads/common/tensor.h"

constexpr unsigned group_size = 256, wavefront = 64;

extern "C" __global__ void __launch_bounds__(group_size)
    scalar_product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned length) {
  __shared__ float sums[group_size / wavefront];
  const size_t first = size_t{blockIdx.x} * length;
  float sum = 0;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < length; i += group_size) sum += a[first + i] * b[first + i];
  sum = workload::lane_sum<wavefront>(sum);
  if (threadIdx.x % wavefront == 0) sums[threadIdx.x / wavefront] = sum;
  __syncthreads();
  if (threadIdx.x == 0) c[blockIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

int main(int argc, char** argv) {
  workload::Program program("scp", "Scalar products of pairs of vectors",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: scalarProd of the CUDA samples");
  int pairs = 0, length = 0;
  program.size(pairs, "pairs", "pairs of vectors", {16, 64, 256}, 1, 1 << 20);
  program.size(length, "length", "elements of a vector", {1000, 4096, 4096}, 1, 1 << 26);
  return program.run(argc, argv, [&] {
    const size_t count = size_t(pairs) * length;
    const std::vector<float> a = program.random().uniform_values(count, 0, 1), b = program.random().uniform_values(count, 0, 1);
    const workload::DeviceArray<float> device_a("a", a), device_b("b", b), c("c", pairs);
    program.measure([&] { scalar_product<<<pairs, group_size>>>(device_a.data(), device_b.data(), c.data(), length); });
    if (!program.checks()) return;
    std::vector<double> expected(pairs);
    for (size_t i = 0; i < count; ++i) expected[i / length] += static_cast<double>(a[i]) * b[i];
    // All terms are positive, so that a sum is also the sum of its terms' magnitudes.
    program.check_near("c", c.download(), expected, [&](size_t i) { return workload::sum_factor(length) * expected[i]; });
  });
}
