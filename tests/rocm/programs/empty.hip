// Program for bench/start_bench.sh: starts the runtime and ends. With an argument N, launches an empty kernel once, then N
// times, and prints the launches per second of these N.
#include <chrono>

#include "../check.h"

__global__ void empty() {}

int main(int argc, char** argv) {
  HIP_CHECK(hipInit(0));
  HIP_CHECK(hipFree(nullptr));
  if (argc < 2) return 0;
  const int launches = std::atoi(argv[1]);
  empty<<<1, 64>>>();
  HIP_CHECK(hipDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) empty<<<1, 64>>>();
  HIP_CHECK(hipDeviceSynchronize());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("launches a second: %.0f\n", launches / spent.count());
  return 0;
}
