// Tests assert() in a kernel: an assertion that holds has no effect; an assertion that fails ends the program with the text of
// the assertion. Argument: the value to assert about, of which 13 fails.
#include <cassert>

#include "../check.h"

__global__ void check_values(const int* values, int* out) {
  assert(values[threadIdx.x] != 13 && "unlucky");
  out[threadIdx.x] = values[threadIdx.x] + 1;
}

int main(int argc, char** argv) {
  std::vector<int> values(64, 5);
  const check::DeviceArray<int> out(64);
  {
    const check::DeviceArray<int> in(values);
    check_values<<<1, 64>>>(in.data(), out.data());
    HIP_CHECK(hipDeviceSynchronize());
    EXPECT_EACH(out.download(), [](size_t) { return 6; });
  }
  if (argc > 1) values[37] = std::atoi(argv[1]);
  const check::DeviceArray<int> in(values);
  check_values<<<1, 64>>>(in.data(), out.data());
  const hipError_t status = hipDeviceSynchronize();
  if (argc > 1) {
    std::printf("went on after the assertion with %s\n", hipGetErrorName(status));
    return 3;
  }
  EXPECT_STATUS(status, hipSuccess);
  return check::result();
}
