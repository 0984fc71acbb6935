// COMPARE: counts the elements in which two strings differ. A string's elements are 32-bit characters.
#include <hip/hip_runtime.h>

#include "workloads/common/counting.h"
#include "workloads/common/program.h"

extern "C" __global__ void __launch_bounds__(workload::counting_group)
    compare(const unsigned* __restrict__ a, const unsigned* __restrict__ b, unsigned* __restrict__ total, unsigned length) {
  workload::count_if(length, total, [&](unsigned i) { return a[i] != b[i]; });
}

int main(int argc, char** argv) {
  workload::Program program("compare", "Number of elements in which two strings differ",
                            "Opportunistic computing in GPU architectures (ISCA '19), Table 3");
  int length = 0;
  double different = 0;
  program.size(length, "length", "elements of each string", {20'000, 1 << 18, 1 << 22}, 1, 1 << 28);
  program.real(different, "different", "share of the elements that differ, each by chance", 0.5, 0, 1);
  return program.run(argc, argv, [&] {
    std::vector<unsigned> a(length), b(length);
    unsigned expected = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<unsigned>(program.random().below(0x10ffff));
      const bool differs = static_cast<double>(program.random().below(1u << 30)) < different * (1u << 30);
      b[i] = a[i] ^ (differs ? 1u : 0u);
      expected += differs ? 1 : 0;
    }
    const workload::DeviceArray<unsigned> device_a("a", a), device_b("b", b), total("the count", 1);
    program.measure([&] { total.clear(); },
                    [&] {
                      compare<<<workload::groups(a.size(), workload::counting_group * workload::counting_items),
                                workload::counting_group>>>(device_a.data(), device_b.data(), total.data(), length);
                    });
    if (program.checks()) program.check_equal("the count", total.download(), std::vector<unsigned>{expected});
  });
}
