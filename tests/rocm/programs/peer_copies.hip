// Tests two GPUs in one process, each with its own memory, streams and kernels: copies between them, and kernels that read the
// other GPU's memory. The program has a code object for each GPU's instruction set.
#include "../check.h"

namespace {

__global__ void scale(int* values, int factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

__global__ void add_from(const int* other, int* mine, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) mine[i] += other[i];
}

}  // namespace

int main() {
  int count = 0;
  HIP_CHECK(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  if (count != 2) return check::result();
  constexpr int kCount = 20000;
  const std::vector<int> values = check::scrambled<int>(kCount);
  std::vector<int> got(kCount);
  int* data[2] = {};
  hipStream_t streams[2];
  for (int device = 0; device < 2; ++device) {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, device));
    std::printf("device %d: %s\n", device, properties.gcnArchName);
    HIP_CHECK(hipSetDevice(device));
    HIP_CHECK(hipMalloc(&data[device], kCount * sizeof(int)));
    HIP_CHECK(hipStreamCreate(&streams[device]));
    HIP_CHECK(hipMemcpy(data[device], values.data(), kCount * sizeof(int), hipMemcpyHostToDevice));
  }
  // Kernels on both GPUs at the same time, each with its own instruction set.
  for (int device = 0; device < 2; ++device) {
    HIP_CHECK(hipSetDevice(device));
    scale<<<(kCount + 255) / 256, 256, 0, streams[device]>>>(data[device], device + 2, kCount);
    HIP_CHECK(hipGetLastError());
  }
  for (int device = 0; device < 2; ++device) {
    HIP_CHECK(hipSetDevice(device));
    HIP_CHECK(hipStreamSynchronize(streams[device]));
    HIP_CHECK(hipMemcpy(got.data(), data[device], kCount * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT_EACH(got, [&](size_t i) { return static_cast<int>(static_cast<uint32_t>(values[i]) * (device + 2)); });
  }

  // Copies from GPU 0 to GPU 1 and back.
  HIP_CHECK(hipMemcpyPeer(data[1], 1, data[0], 0, kCount * sizeof(int)));
  HIP_CHECK(hipMemcpy(got.data(), data[1], kCount * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT_EACH(got, [&](size_t i) { return static_cast<int>(static_cast<uint32_t>(values[i]) * 2); });
  HIP_CHECK(hipSetDevice(1));
  scale<<<(kCount + 255) / 256, 256>>>(data[1], 5, kCount);
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipSetDevice(0));
  HIP_CHECK(hipMemcpyPeerAsync(data[0], 0, data[1], 1, kCount * sizeof(int), streams[0]));
  HIP_CHECK(hipStreamSynchronize(streams[0]));
  HIP_CHECK(hipMemcpy(got.data(), data[0], kCount * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT_EACH(got, [&](size_t i) { return static_cast<int>(static_cast<uint32_t>(values[i]) * 10); });

  int can = 0;
  HIP_CHECK(hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  if (can != 0) {
    HIP_CHECK(hipDeviceEnablePeerAccess(1, 0));
    add_from<<<(kCount + 255) / 256, 256>>>(data[1], data[0], kCount);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemcpy(got.data(), data[0], kCount * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT_EACH(got, [&](size_t i) { return static_cast<int>(static_cast<uint32_t>(values[i]) * 20); });
  }

  // Pinned memory is accessible to all GPUs.
  int* pinned = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), kCount * sizeof(int), hipHostMallocPortable));
  for (int i = 0; i < kCount; ++i) pinned[i] = i;
  for (int device = 0; device < 2; ++device) {
    HIP_CHECK(hipSetDevice(device));
    scale<<<(kCount + 255) / 256, 256>>>(pinned, 3, kCount);
    HIP_CHECK(hipDeviceSynchronize());
  }
  EXPECT_EACH(std::vector<int>(pinned, pinned + kCount), [](size_t i) { return i * 9; });
  HIP_CHECK(hipHostFree(pinned));
  for (int device = 0; device < 2; ++device) {
    HIP_CHECK(hipSetDevice(device));
    HIP_CHECK(hipStreamDestroy(streams[device]));
    HIP_CHECK(hipFree(data[device]));
  }
  return check::result();
}
