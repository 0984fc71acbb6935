// Rectified linear unit, y = max(x, 0), of a vector. Memory bound: each work-item processes four elements, so that a wavefront
// loads and stores 1 KiB at a time, or one element, as in MGPUSim's relu. The default length is MGPUSim's.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned group_size = 256, per_item = 4;

__global__ void __launch_bounds__(group_size) relu(const float* __restrict__ x, float* __restrict__ y, unsigned length) {
  const unsigned first = (blockIdx.x * group_size + threadIdx.x) * per_item;
  if (first + per_item <= length) {
    const float4 in = *reinterpret_cast<const float4*>(x + first);
    *reinterpret_cast<float4*>(y + first) = make_float4(fmaxf(in.x, 0), fmaxf(in.y, 0), fmaxf(in.z, 0), fmaxf(in.w, 0));
  } else {
    for (unsigned i = first; i < length; ++i) y[i] = fmaxf(x[i], 0);
  }
}

__global__ void __launch_bounds__(group_size) relu_words(const float* __restrict__ x, float* __restrict__ y, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) y[i] = fmaxf(x[i], 0);
}

int main(int argc, char** argv) {
  workload::Program program("relu", "Rectified linear unit of a vector", "LazyGPU (ISCA '25), Table 3: ReLU of DNNMark");
  int length = 0;
  program.size(length, "length", "elements", {100'000, 4096, 1 << 20}, 1, 1 << 30);
  std::string elements;
  program.choice(elements, "elements", "elements of a work-item, which it loads together", {"1", "4"}, std::string("4"));
  program.takes_sparsity("the vector");
  return program.run(argc, argv, [&] {
    const std::vector<float> x = program.sparsified(program.random().uniform_values(length, -1, 1));
    const workload::DeviceArray<float> device_x("the input", x), device_y("the output", x.size());
    const unsigned of_item = elements == "1" ? 1 : per_item;
    const auto kernel = elements == "1" ? relu_words : relu;
    program.measure([&] {
      kernel<<<workload::groups(x.size(), group_size * of_item), group_size>>>(device_x.data(), device_y.data(), length);
    });
    if (!program.checks()) return;
    std::vector<float> expected(x);
    for (float& value : expected) value = value > 0 ? value : 0;
    program.check_equal("y", device_y.download(), expected);
  });
}
