// NORM: divides a vector by a given value, y = x / value, through its reciprocal: one multiplication per element.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned group_size = 256;

extern "C" __global__ void __launch_bounds__(group_size)
    norm(const float* __restrict__ x, float* __restrict__ y, unsigned length, float reciprocal) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) y[i] = x[i] * reciprocal;
}

int main(int argc, char** argv) {
  workload::Program program("norm", "A vector divided by a number",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3");
  int length = 0;
  double value = 0;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  program.real(value, "value", "divisor", 255.0, 1e-6, 1e6);
  return program.run(argc, argv, [&] {
    const std::vector<float> x = program.random().uniform_values(length, 0, 256);
    const float reciprocal = 1.0f / static_cast<float>(value);
    const workload::DeviceArray<float> device_x("x", x), y("y", x.size());
    program.measure(
        [&] { norm<<<workload::groups(x.size(), group_size), group_size>>>(device_x.data(), y.data(), length, reciprocal); });
    if (!program.checks()) return;
    std::vector<float> expected(x);
    for (float& element : expected) element *= reciprocal;
    program.check_equal("y", y.download(), expected);
  });
}
