// DENSITY: counts the zeros of an array.
#include <hip/hip_runtime.h>

#include <algorithm>

#include "workloads/common/counting.h"
#include "workloads/common/program.h"

extern "C" __global__ void __launch_bounds__(workload::counting_group)
    density(const float* __restrict__ a, unsigned* __restrict__ total, unsigned length) {
  workload::count_if(length, total, [&](unsigned i) { return a[i] == 0.0f; });
}

int main(int argc, char** argv) {
  workload::Program program("density", "Number of zeros in an array",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3");
  int length = 0;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  program.takes_sparsity("the array");
  return program.run(argc, argv, [&] {
    const std::vector<float> a = program.sparsified(program.random().uniform_values(length, -1, 1));
    const workload::DeviceArray<float> device_a("the array", a);
    const workload::DeviceArray<unsigned> total("the count", 1);
    program.measure([&] { total.clear(); },
                    [&] {
                      density<<<workload::groups(a.size(), workload::counting_group * workload::counting_items),
                                workload::counting_group>>>(device_a.data(), total.data(), length);
                    });
    if (!program.checks()) return;
    program.check_equal("the count", total.download(),
                        std::vector<unsigned>{static_cast<unsigned>(std::count(a.begin(), a.end(), 0.0f))});
  });
}
