// Performs 100,000 launches (or the number given as argument), more than any ring has slots. Every hundredth launch increments
// a counter.
#include "../check.h"

__global__ void empty() {}
__global__ void count(unsigned* launches) {
  if (threadIdx.x == 0) ++*launches;
}

int main(int argc, char** argv) {
  const unsigned launches = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100000;
  check::DeviceArray<unsigned> counter(std::vector<unsigned>(1, 0));
  for (unsigned i = 0; i < launches; ++i) {
    if (i % 100 == 0) {
      count<<<1, 64>>>(counter.data());
    } else {
      empty<<<1, 64>>>();
    }
  }
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(counter.download()[0], (launches + 99) / 100);
  return check::result();
}
