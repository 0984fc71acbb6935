// Tests host memory that the GPU accesses directly: pinned, registered (at a separate address on the device), and managed
// memory, and the attributes of their pointers.
#include "../check.h"

namespace {

constexpr int kCount = 5000;

__global__ void triple(int* values, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) values[i] = values[i] * 3 + 1;
}

void run(int* host, int* device) {
  for (int i = 0; i < kCount; ++i) host[i] = i;
  triple<<<4, 256>>>(device, kCount);
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EACH(std::vector<int>(host, host + kCount), [](size_t i) { return i * 3 + 1; });
}

void pinned(unsigned flags) {
  int *host = nullptr, *device = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), kCount * sizeof(int), flags));
  HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0));
  run(host, device);
  run(host, host);
  hipPointerAttribute_t attributes = {};
  HIP_CHECK(hipPointerGetAttributes(&attributes, host));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, static_cast<void*>(host));
  // Copies with pinned memory as source or destination.
  check::DeviceArray<int> array(kCount);
  HIP_CHECK(hipMemcpy(array.data(), host, array.bytes(), hipMemcpyHostToDevice));
  std::memset(host, 0, array.bytes());
  triple<<<4, 256>>>(array.data(), kCount);
  HIP_CHECK(hipMemcpy(host, array.data(), array.bytes(), hipMemcpyDeviceToHost));
  EXPECT_EACH(std::vector<int>(host, host + kCount), [](size_t i) { return (i * 3 + 1) * 3 + 1; });
  HIP_CHECK(hipHostFree(host));
}

void registered() {
  // A range that neither begins at a page boundary nor has a whole number of pages.
  std::vector<int> memory(kCount + 100);
  int *host = memory.data() + 37, *device = nullptr;
  HIP_CHECK(hipHostRegister(host, kCount * sizeof(int), hipHostRegisterDefault));
  HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0));
  memory[36] = 123;
  memory[37 + kCount] = 456;
  run(host, device);
  EXPECT_EQ(memory[36], 123);
  EXPECT_EQ(memory[37 + kCount], 456);
  HIP_CHECK(hipHostUnregister(host));
  // The same memory is registered a second time.
  HIP_CHECK(hipHostRegister(host, kCount * sizeof(int), hipHostRegisterMapped));
  HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0));
  run(host, device);
  HIP_CHECK(hipHostUnregister(host));
  EXPECT_STATUS(hipHostUnregister(host), hipErrorHostMemoryNotRegistered);
}

void managed() {
  int* memory = nullptr;
  HIP_CHECK(hipMallocManaged(reinterpret_cast<void**>(&memory), kCount * sizeof(int)));
  run(memory, memory);
  EXPECT_STATUS(hipMemPrefetchAsync(memory, kCount * sizeof(int), 0, nullptr), hipSuccess);
  EXPECT_STATUS(hipMemAdvise(memory, kCount * sizeof(int), hipMemAdviseSetPreferredLocation, 0), hipSuccess);
  HIP_CHECK(hipDeviceSynchronize());
  run(memory, memory);
  hipPointerAttribute_t attributes = {};
  HIP_CHECK(hipPointerGetAttributes(&attributes, memory));
  EXPECT_TRUE(attributes.isManaged);
  HIP_CHECK(hipFree(memory));
}

void device_attributes() {
  const check::DeviceArray<int> array(kCount);
  hipPointerAttribute_t attributes = {};
  HIP_CHECK(hipPointerGetAttributes(&attributes, array.data() + 5));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  void* base = nullptr;
  size_t size = 0;
  HIP_CHECK(hipMemGetAddressRange(&base, &size, array.data() + 100));
  EXPECT_EQ(base, static_cast<void*>(array.data()));
  EXPECT_EQ(size, array.bytes());
  int local = 0;
  EXPECT_STATUS(hipPointerGetAttributes(&attributes, &local), hipErrorInvalidValue);
}

}  // namespace

int main() {
  pinned(hipHostMallocDefault);
  pinned(hipHostMallocNonCoherent);
  pinned(hipHostMallocCoherent | hipHostMallocMapped);
  pinned(hipHostMallocPortable | hipHostMallocWriteCombined);
  registered();
  managed();
  device_attributes();
  return check::result();
}
