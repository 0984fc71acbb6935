// TRIAD: c = a + s b. The kernel of SHOC's Triad, which is derived from J. McCalpin's STREAM; SHOC's blocks of 64 KiB to 16
// MiB, which are copied concurrently, are one vector here.
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned group_size = 128;  // as in SHOC

extern "C" __global__ void __launch_bounds__(group_size)
    triad(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, float s, unsigned length) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i < length) c[i] = a[i] + s * b[i];
}

int main(int argc, char** argv) {
  workload::Program program("triad", "c = a + s b",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3: Triad of SHOC");
  int length = 0;
  program.size(length, "length", "elements", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  return program.run(argc, argv, [&] {
    constexpr float s = 1.75f;  // as in SHOC
    const std::vector<float> a = program.random().uniform_values(length, 0, 10),
                             b = program.random().uniform_values(length, 0, 10);
    const workload::DeviceArray<float> device_a("a", a), device_b("b", b), c("c", a.size());
    program.measure([&] {
      triad<<<workload::groups(a.size(), group_size), group_size>>>(device_a.data(), device_b.data(), c.data(), s, length);
    });
    if (!program.checks()) return;
    std::vector<double> expected(a.size());
    for (size_t i = 0; i < a.size(); ++i) expected[i] = a[i] + static_cast<double>(s) * b[i];
    // Two roundings, or one with a fused multiply-add.
    program.check_near("c", c.download(), expected, [&](size_t i) { return 2 * 0x1p-24 * expected[i]; });
  });
}
