// Tests streams with a mask of compute units and streams with priorities.
#include <hip/hip_ext.h>

#include "../check.h"

namespace {

// The SE and CU fields of the hardware id register identify the wavefront's compute unit.
__global__ void where(uint32_t* units) {
  uint32_t id;
  asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID)" : "=s"(id));
  if (threadIdx.x == 0) units[blockIdx.x] = (id >> 8) & 0xff;  // CU_ID 11:8, SH_ID 12, SE_ID 15:13
}

int distinct(const std::vector<uint32_t>& values) {
  std::vector<bool> seen(256);
  int count = 0;
  for (const uint32_t value : values) {
    if (!seen[value & 0xff]) ++count;
    seen[value & 0xff] = true;
  }
  return count;
}

void masked(int units) {
  const check::DeviceArray<uint32_t> ids(256);
  where<<<256, 64>>>(ids.data());
  EXPECT_EQ(distinct(ids.download()), units);
  for (const uint32_t mask : {0x1u, 0x3u}) {
    hipStream_t stream;
    const uint32_t words[2] = {mask, 0};
    HIP_CHECK(hipExtStreamCreateWithCUMask(&stream, 2, words));
    where<<<256, 64, 0, stream>>>(ids.data());
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_EQ(distinct(ids.download()), std::min(units, mask == 1 ? 1 : 2));
    uint32_t got[2] = {};
    HIP_CHECK(hipExtStreamGetCUMask(stream, 2, got));
    EXPECT_TRUE((got[0] & mask) == (mask & ((units < 32 ? 1u << units : 0u) - 1u)));
    HIP_CHECK(hipStreamDestroy(stream));
  }
}

__global__ void count(int* value) {
  if (threadIdx.x == 0) atomicAdd(value, 1);
}

void priorities() {
  int least = 0, greatest = 0;
  HIP_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_TRUE(greatest <= least);
  const check::DeviceArray<int> value(std::vector<int>(1, 0));
  int expected = 0;
  for (int priority = greatest; priority <= least; ++priority) {
    hipStream_t stream;
    HIP_CHECK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority));
    int got = 99;
    HIP_CHECK(hipStreamGetPriority(stream, &got));
    EXPECT_EQ(got, priority);
    for (int i = 0; i < 5; ++i) count<<<7, 64, 0, stream>>>(value.data());
    HIP_CHECK(hipStreamSynchronize(stream));
    expected += 35;
    EXPECT_EQ(value.download()[0], expected);
    HIP_CHECK(hipStreamDestroy(stream));
  }
}

}  // namespace

int main() {
  int units = 0;
  HIP_CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  masked(units);
  priorities();
  return check::result();
}
