// RED: the sum of a vector. SHOC's Reduction: 64 workgroups stride through the vector and add in LDS; then their sums are
// added. The paper (A. Pattnaik et al., ISCA '19) has versions that use global memory instead:
//
//   shared    as SHOC's
//   global    every level of the tree in global memory: a[i] += a[i + half], one kernel per level
//   hybrid-N  the first N levels in global memory, the rest as `shared`; RED of the paper's other figures is hybrid-2
//
// Forms:
//
//   tuned   adds the halves of a level in place; in `shared`, a lane adds two elements to its sum, one after the other
//   suite   adds the halves of a level from one vector to another; as in SHOC, a lane adds the sum of two elements to its sum
//
// Elements are 1 or -1, so that sums of up to 2^24 of them are exact in any order.
#include <hip/hip_runtime.h>

#include "workloads/common/lanes.h"
#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256, wavefront = 64, groups = 64;

// *result = the sum of `sum` over all work-items of the workgroup, through LDS.
static __device__ __forceinline__ void add_lanes(float sum, float* __restrict__ result) {
  __shared__ float partial[group_size];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = group_size / 2; half >= wavefront; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x >= wavefront) return;
  sum = workload::lane_sum<wavefront>(partial[threadIdx.x]);
  if (threadIdx.x == 0) *result = sum;
}

// sums[workgroup] = the sum of the elements i with i / 512 % workgroups = workgroup.
extern "C" __global__ void __launch_bounds__(group_size)
    reduce_shared(const float* __restrict__ a, float* __restrict__ sums, unsigned length) {
  float sum = 0;
  for (unsigned i = blockIdx.x * group_size * 2 + threadIdx.x; i < length; i += gridDim.x * group_size * 2) {
    sum += a[i];
    if (i + group_size < length) sum += a[i + group_size];
  }
  add_lanes(sum, sums + blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(group_size) reduce(const float* a, float* sums, unsigned length) {
  float sum = 0;
  unsigned i = blockIdx.x * group_size * 2 + threadIdx.x;
  // SHOC's vectors have no remainder; here a lane may have a last element without a second one.
  for (; i + group_size < length; i += gridDim.x * group_size * 2) sum += a[i] + a[i + group_size];
  if (i < length) sum += a[i];
  add_lanes(sum, sums + blockIdx.x);
}

// A level of the tree: adds the upper half to the lower half.
extern "C" __global__ void __launch_bounds__(group_size) reduce_global_level(float* a, unsigned half, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i + half < length) a[i] = a[i] + a[i + half];
}

// to[i] = the sum of the two halves of a level; if the number of elements is odd, the lower half has one more element, which is
// copied.
extern "C" __global__ void __launch_bounds__(group_size)
    reduce_level(const float* a, float* to, unsigned half, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i + half < length) {
    to[i] = a[i] + a[i + half];
  } else if (i < half) {
    to[i] = a[i];
  }
}

int main(int argc, char** argv) {
  workload::Program program("red", "Sum of a vector, in shared or global memory or both",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3 and Fig. 17: Reduction of SHOC");
  int length = 0;
  std::string variant, form;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 24);
  program.choice(variant, "variant", "where the levels of the tree are",
                 {"shared", "global", "hybrid-1", "hybrid-2", "hybrid-3", "hybrid-4"}, std::string("shared"));
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  return program.run(argc, argv, [&] {
    std::vector<float> a(length);
    double expected = 0;
    for (float& element : a) expected += element = program.random().below(2) == 0 ? 1.0f : -1.0f;
    const unsigned levels = variant == "shared" ? 0 : variant == "global" ? 32 : variant.back() - '0';
    const bool suite = form == "suite";
    const workload::DeviceArray<float> device_a("the vector", a), sums("the sums of workgroups", groups), sum("the sum", 1),
        levels_a("a level", suite ? length : 1), levels_b("a level", suite ? length : 1);
    // Points to the element with the final sum.
    const float* result = nullptr;
    program.measure(
        [&] {
          if (levels > 0 && !suite) device_a.upload(a);
        },
        [&] {
          unsigned left = length;
          const float* from = device_a.data();
          float *to = levels_a.data(), *other = levels_b.data();
          for (unsigned level = 0; level < levels && left > 1; ++level) {
            const unsigned half = (left + 1) / 2;
            if (suite) {
              reduce_level<<<workload::groups(half, group_size), group_size>>>(from, to, half, left);
              from = to;
              std::swap(to, other);
            } else {
              reduce_global_level<<<workload::groups(left - half, group_size), group_size>>>(device_a.data(), half, left);
            }
            left = half;
          }
          result = from;
          if (variant == "global") return;
          const auto reduce_rest = suite ? reduce : reduce_shared;
          reduce_rest<<<groups, group_size>>>(from, sums.data(), left);
          reduce_rest<<<1, group_size>>>(sums.data(), sum.data(), groups);
          result = sum.data();
        });
    if (!program.checks()) return;
    std::vector<float> got(1);
    workload::require(hipMemcpy(got.data(), result, sizeof(float), hipMemcpyDeviceToHost), "copying the sum to the host");
    program.check_equal("the sum", got, std::vector<float>{static_cast<float>(expected)});
  });
}
