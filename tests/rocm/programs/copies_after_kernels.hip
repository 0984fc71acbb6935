// Tests copies that SDMA engines start after a kernel has ended. The kernels have many durations, so that they end at many
// phases of the engines' polling interval and of the driver's steps of simulated time.
#include "../check.h"

namespace {

__global__ void fill_late(int* data, int size, int value, int sleeps) {
  for (int i = 0; i < sleeps; ++i) __builtin_amdgcn_s_sleep(1);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) data[i] = value + i;
}

}  // namespace

int main() {
  constexpr int kSize = 1 << 18, kKernels = 48, kSleeps = 8, kWritten = 1 << 12;
  const check::DeviceArray<int> device(std::vector<int>(kSize, -1));
  int* host = nullptr;
  HIP_CHECK(hipHostMalloc(&host, kSize * sizeof(int), hipHostMallocDefault));
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  for (int kernel = 0; kernel < kKernels; ++kernel) {
    fill_late<<<1, 64, 0, stream>>>(device.data(), kWritten, kernel, kernel * kSleeps);
    HIP_CHECK(hipMemcpyAsync(host, device.data(), kSize * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_EQ(host[kWritten - 1], kernel + kWritten - 1);
    EXPECT_EQ(host[kSize - 1], -1);
  }
  HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipHostFree(host));
  return check::result();
}
