// Tests calls with invalid arguments: each returns an error, the device continues to work, and the error state is as defined by
// HIP.
#include "../check.h"

__global__ void set(int* value) { *value = 1; }
__global__ void many_registers_and_lds(float* out) {
  __shared__ float memory[12 * 1024];
  memory[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = memory[threadIdx.x ^ 1];
}

int main() {
  check::DeviceArray<int> value(std::vector<int>(1, 0));
  const auto launch = [&](dim3 grid, dim3 block, size_t lds) {
    set<<<grid, block, lds>>>(value.data());
    return hipGetLastError();
  };
  EXPECT_STATUS(launch(dim3(1), dim3(1025), 0), hipErrorInvalidConfiguration);
  EXPECT_STATUS(launch(dim3(1), dim3(64, 64), 0), hipErrorInvalidConfiguration);
  EXPECT_STATUS(launch(dim3(1), dim3(1, 1, 2000), 0), hipErrorInvalidConfiguration);
  EXPECT_STATUS(launch(dim3(0), dim3(64), 0), hipErrorInvalidValue);
  EXPECT_STATUS(launch(dim3(1), dim3(0), 0), hipErrorInvalidValue);
  EXPECT_TRUE(launch(dim3(1), dim3(64), 65537) != hipSuccess);
  many_registers_and_lds<<<1, 64, 32768>>>(nullptr);  // 48 KiB and 32 KiB
  EXPECT_TRUE(hipGetLastError() != hipSuccess);
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(value.download()[0], 0);
  EXPECT_STATUS(launch(dim3(1), dim3(1024), 0), hipSuccess);
  EXPECT_EQ(value.download()[0], 1);
  EXPECT_STATUS(launch(dim3(1, 65536, 1), dim3(1), 0), hipSuccess);
  EXPECT_STATUS(launch(dim3(3, 2, 2), dim3(4, 4, 8), 65536), hipSuccess);
  HIP_CHECK(hipDeviceSynchronize());

  EXPECT_STATUS(hipSetDevice(99), hipErrorInvalidDevice);
  EXPECT_STATUS(hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_STATUS(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_STATUS(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_STATUS(hipGetLastError(), hipSuccess);
  EXPECT_STATUS(hipMalloc(nullptr, 100), hipErrorInvalidValue);
  EXPECT_STATUS(hipStreamCreate(nullptr), hipErrorInvalidValue);
  EXPECT_STATUS(hipEventCreate(nullptr), hipErrorInvalidValue);
  int can = -1;
  EXPECT_STATUS(hipDeviceCanAccessPeer(&can, 0, 7), hipErrorInvalidDevice);
  int attribute = 0;
  EXPECT_STATUS(hipDeviceGetAttribute(&attribute, hipDeviceAttributeWarpSize, 5), hipErrorInvalidDevice);

  // Sharing memory between processes is not supported.
  hipIpcMemHandle_t handle;
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_TRUE(hipIpcGetMemHandle(&handle, value.data()) != hipSuccess);
  (void)hipGetLastError();
  EXPECT_STATUS(launch(dim3(1), dim3(64), 0), hipSuccess);
  HIP_CHECK(hipDeviceSynchronize());
  return check::result();
}
