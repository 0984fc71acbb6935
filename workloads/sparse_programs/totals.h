// Sums over all elements in two stages: each workgroup writes its partial sums, then one workgroup adds them. The order of the
// additions only depends on sizes.
#pragma once

#include <hip/hip_runtime.h>

#include <vector>

#include "workloads/common/device_array.h"

namespace workload {

constexpr unsigned group_size = 256;
constexpr unsigned wavefronts = group_size / 64;

/// Like lane_sum() of common/lanes.h, for any type that __shfl_xor supports.
template <unsigned lanes, typename T>
__device__ inline T sum_of_lanes(T value) {
#pragma unroll
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) value += __shfl_xor(value, static_cast<int>(distance));
  return value;
}

/// Returns the sum over the workgroup in its first work-item. `scratch`: LDS with one element per work-item. Only one wavefront
/// executes the additions, since f64 instructions take many cycles on consumer GPUs.
template <typename T>
__device__ inline T sum_of_group(T value, T* scratch) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  T sum{};
  if (threadIdx.x < 64) {
    for (unsigned i = threadIdx.x; i < group_size; i += 64) sum += scratch[i];
    sum = sum_of_lanes<64>(sum);
  }
  __syncthreads();
  return sum;
}

/// partials[group * count + i] = the group's sum of totals[i]; a wavefront computes each sum. All work-items of the group must
/// call the function. `scratch`: LDS with `count` elements per work-item.
template <unsigned count>
__device__ inline void store_partials(const double (&totals)[count], double* partials, double* scratch) {
  static_assert(count <= wavefronts);
  for (unsigned i = 0; i < count; ++i) scratch[i * group_size + threadIdx.x] = totals[i];
  __syncthreads();
  const unsigned mine = threadIdx.x / 64;
  if (mine >= count) return;
  double sum = 0;
  for (unsigned i = threadIdx.x % 64; i < group_size; i += 64) sum += scratch[mine * group_size + i];
  sum = sum_of_lanes<64>(sum);
  if (threadIdx.x % 64 == 0) partials[blockIdx.x * count + mine] = sum;
}

/// The second stage, by one workgroup: passes the sums over all groups to `after`.
template <unsigned count, typename After>
__global__ void __launch_bounds__(group_size) add_partials(const double* __restrict__ partials, unsigned groups, After after) {
  __shared__ double scratch[group_size];
  double sums[count] = {};
  for (unsigned group = threadIdx.x; group < groups; group += group_size) {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) sums[i] += partials[group * count + i];
  }
  for (unsigned i = 0; i < count; ++i) sums[i] = sum_of_group(sums[i], scratch);
  if (threadIdx.x == 0) after(sums);
}

/// Applies an element-wise step to `count` elements: step.element(i, totals).
template <typename Step>
__global__ void __launch_bounds__(group_size) each_element(Step step, unsigned count, double* partials) {
  double totals[Step::totals] = {};
  __shared__ double scratch[Step::totals * group_size];
  for (unsigned i = blockIdx.x * group_size + threadIdx.x; i < count; i += gridDim.x * group_size) step.element(i, totals);
  store_partials(totals, partials, scratch);
}

/// Partial sums of the most recent kernel.
class Partials {
 public:
  /// Memory for kernels with at most `groups` workgroups.
  explicit Partials(unsigned groups) : sums_("the partial sums", size_t(groups) * most_totals) {}

  /// Returns the memory for the partial sums of a kernel with `groups` workgroups.
  double* begin(unsigned groups) {
    groups_ = groups;
    return sums_.data();
  }
  template <typename Step>
  void each(const Step& step, unsigned count) {
    // At most as many workgroups as 64 compute units hold.
    const unsigned groups = std::min(workload::groups(count, group_size), most_groups);
    each_element<<<groups, group_size>>>(step, count, begin(groups));
  }
  template <unsigned count, typename After>
  void add_up(const After& after) const {
    static_assert(count <= most_totals);
    add_partials<count><<<1, group_size>>>(sums_.data(), groups_, after);
  }

  static constexpr unsigned most_totals = wavefronts, most_groups = 512;

 private:
  DeviceArray<double> sums_;
  unsigned groups_ = 0;
};

/// Scalars in host memory that kernels write.
template <typename T>
class HostScalars {
 public:
  explicit HostScalars(size_t count) {
    require(hipHostMalloc(reinterpret_cast<void**>(&values_), count * sizeof(T)), "allocating memory of the host");
  }
  HostScalars(const HostScalars&) = delete;
  HostScalars& operator=(const HostScalars&) = delete;
  ~HostScalars() { (void)hipHostFree(values_); }
  T* data() const { return values_; }
  /// Waits for all kernels, then returns the scalar.
  T operator[](size_t i) const {
    require(hipStreamSynchronize(nullptr), "running the kernels");
    return values_[i];
  }

 private:
  T* values_ = nullptr;
};

}  // namespace workload
