// Tests the properties of the device, and those that the runtime derives from them. Arguments: name of the instruction set,
// number of compute units.
#include "../check.h"

__global__ void kernel(float* out) {
  __shared__ float tile[1024];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

int main(int argc, char** argv) {
  int count = 0, driver = 0, runtime = 0;
  HIP_CHECK(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 1);
  HIP_CHECK(hipDriverGetVersion(&driver));
  HIP_CHECK(hipRuntimeGetVersion(&runtime));
  EXPECT_TRUE(driver > 0 && runtime > 0);
  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  std::printf("name \"%s\", %s, %d compute units, %zu MiB, %d kHz\n", properties.name, properties.gcnArchName,
              properties.multiProcessorCount, properties.totalGlobalMem >> 20, properties.clockRate);
  if (argc > 1) EXPECT_EQ(std::string(properties.gcnArchName).substr(0, std::strlen(argv[1])), std::string(argv[1]));
  if (argc > 2) EXPECT_EQ(properties.multiProcessorCount, std::atoi(argv[2]));
  EXPECT_EQ(properties.warpSize, 64);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.sharedMemPerBlock, size_t{65536});
  EXPECT_TRUE(properties.totalGlobalMem > 0);
  EXPECT_TRUE(properties.clockRate > 0);
  EXPECT_TRUE(properties.memoryClockRate > 0);
  EXPECT_TRUE(properties.memoryBusWidth > 0);
  EXPECT_TRUE(properties.l2CacheSize > 0);
  EXPECT_TRUE(properties.clockInstructionRate > 0);
  EXPECT_TRUE(std::strlen(properties.name) > 0);
  EXPECT_EQ(properties.integrated, 0);
  EXPECT_EQ(properties.canMapHostMemory, 1);
  EXPECT_EQ(properties.concurrentKernels, 1);
  char bus[64] = "";
  HIP_CHECK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_TRUE(std::strlen(bus) >= 7);
  int device = -1;
  HIP_CHECK(hipDeviceGetByPCIBusId(&device, bus));
  EXPECT_EQ(device, 0);

  int blocks = 0;
  HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  EXPECT_BETWEEN(blocks, 1, 10);
  HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 40000));
  EXPECT_EQ(blocks, 1);
  int grid = 0, block = 0;
  HIP_CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
  EXPECT_TRUE(grid > 0 && block > 0 && block <= 1024);
  hipFuncAttributes attributes;
  HIP_CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  EXPECT_EQ(attributes.sharedSizeBytes, size_t{4096});
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_TRUE(attributes.numRegs > 0);

  // The second iteration repeats everything after a reset of the device.
  for (int repeat = 0; repeat < 2; ++repeat) {
    const check::DeviceArray<float> values(std::vector<float>(256, 2.5f));
    kernel<<<1, 256>>>(values.data());
    EXPECT_EACH(values.download(), [](size_t) { return 2.5f; });
    HIP_CHECK(hipDeviceReset());
  }
  return check::failures() == 0 ? check::result() : 1;
}
