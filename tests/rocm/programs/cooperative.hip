// Tests cooperative launches, with barriers over the whole grid. A device that does not support them reports this in its
// properties and refuses the launch.
#include "../check.h"

// Included after hip_runtime.h, whose names it uses.
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

namespace {

constexpr int kBlock = 128, kRounds = 6;

// In every round each thread reads what another workgroup's thread wrote in the round before.
__global__ void rotate(int* values, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank()), count = static_cast<int>(grid.size());
  for (int round = 0; round < rounds; ++round) {
    const int value = values[(i + kBlock) % count];
    grid.sync();
    values[i] = value + 1;
    grid.sync();
  }
}

__global__ void block_groups(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ int sum;
  if (block.thread_rank() == 0) sum = 0;
  block.sync();
  atomicAdd(&sum, static_cast<int>(block.thread_rank()));
  block.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + static_cast<int>(block.size());
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int value = static_cast<int>(tile.thread_rank());
  for (int step = 8; step > 0; step /= 2) value += tile.shfl_xor(value, step);
  if (value != 120) out[blockIdx.x * blockDim.x + threadIdx.x] = -1;
}

}  // namespace

int main() {
  const check::DeviceArray<int> sums(4 * kBlock);
  block_groups<<<4, kBlock>>>(sums.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(sums.download(), [](size_t) { return kBlock * (kBlock - 1) / 2 + kBlock; });

  int supported = 0, per_cu = 0, cus = 0;
  HIP_CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  HIP_CHECK(hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, 0));
  HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, rotate, kBlock, 0));
  EXPECT_TRUE(per_cu > 0);
  const int blocks = std::min(per_cu * cus, 16), count = blocks * kBlock;
  std::vector<int> start(count);
  for (int i = 0; i < count; ++i) start[i] = 100 * i;
  check::DeviceArray<int> values(start);
  int* data = values.data();
  int rounds = kRounds;
  void* arguments[] = {&data, &rounds};
  const auto launch = [&](int grid) {
    return hipLaunchCooperativeKernel(reinterpret_cast<void*>(rotate), dim3(grid), dim3(kBlock), arguments, 0, nullptr);
  };
  std::printf("cooperative launch: %s\n", supported != 0 ? "supported" : "not supported");
  if (supported == 0) {
    EXPECT_TRUE(launch(blocks) != hipSuccess);
    EXPECT_EACH(values.download(), [&](size_t i) { return start[i]; });
    return check::result();
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    values.upload(start);
    HIP_CHECK(launch(blocks));
    HIP_CHECK(hipDeviceSynchronize());
    EXPECT_EACH(values.download(), [&](size_t i) { return start[(i + kRounds * kBlock) % count] + kRounds; });
  }
  // A grid with more workgroups than fit on the device at the same time could never reach a barrier.
  EXPECT_STATUS(launch(per_cu * cus + 1), hipErrorCooperativeLaunchTooLarge);
  return check::result();
}
