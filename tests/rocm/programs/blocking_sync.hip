// Tests hipDeviceScheduleBlockingSync: the host repeatedly sleeps in the thunk until the GPU sends an interrupt; no wake-up may
// be lost.
#include "../check.h"

__global__ void increment(int* value, int delay) {
  for (int i = 0; i < delay; ++i) __builtin_amdgcn_s_sleep(2);
  if (threadIdx.x == 0) ++*value;
}

int main() {
  HIP_CHECK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
  check::DeviceArray<int> value(std::vector<int>(1, 0));
  for (int i = 0; i < 200; ++i) {
    increment<<<1, 64>>>(value.data(), i);
    HIP_CHECK(hipDeviceSynchronize());
  }
  EXPECT_EQ(value.download()[0], 200);
  return check::result();
}
