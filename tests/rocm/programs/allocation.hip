// Tests device memory: allocations beyond its capacity, many sizes, reuse after free, unchanged contents, pools, hipMemGetInfo.
#include "../check.h"

__global__ void fill(uint32_t* values, int count, uint32_t seed) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = check::scramble(seed + i);
}

int main() {
  size_t free_before = 0, total = 0;
  HIP_CHECK(hipMemGetInfo(&free_before, &total));
  EXPECT_TRUE(total > 0 && free_before <= total);

  void* data = nullptr;
  EXPECT_STATUS(hipMalloc(&data, total * 2), hipErrorOutOfMemory);
  EXPECT_STATUS(hipMalloc(&data, SIZE_MAX / 2), hipErrorOutOfMemory);
  HIP_CHECK(hipMalloc(&data, 0));
  EXPECT_EQ(data, static_cast<void*>(nullptr));
  EXPECT_STATUS(hipFree(nullptr), hipSuccess);

  // Allocates memory in large pieces until it is exhausted; after the pieces are freed, one half of it can be allocated.
  std::vector<void*> pieces;
  const size_t piece = total / 8;
  while (pieces.size() < 100 && hipMalloc(&data, piece) == hipSuccess) pieces.push_back(data);
  EXPECT_BETWEEN(pieces.size(), size_t{6}, size_t{8});
  for (void* p : pieces) HIP_CHECK(hipFree(p));
  HIP_CHECK(hipMalloc(&data, total / 2));
  HIP_CHECK(hipFree(data));

  // Many allocations of different sizes and contents, freed and allocated again in an order that leaves holes.
  struct Block {
    uint32_t* data = nullptr;
    int count = 0;
    uint32_t seed = 0;
  };
  std::vector<Block> blocks(40);
  for (uint32_t round = 0; round < 120; ++round) {
    Block& block = blocks[check::scramble(round) % blocks.size()];
    if (block.data != nullptr) {
      std::vector<uint32_t> got(block.count);
      HIP_CHECK(hipMemcpy(got.data(), block.data, got.size() * 4, hipMemcpyDeviceToHost));
      EXPECT_EACH(got, [&](size_t i) { return check::scramble(block.seed + static_cast<uint32_t>(i)); });
      HIP_CHECK(hipFree(block.data));
      block.data = nullptr;
      continue;
    }
    block.count = 1 + static_cast<int>(check::scramble(round + 7777) % (round % 5 == 0 ? 100000 : 3000));
    block.seed = round * 1000;
    HIP_CHECK(hipMalloc(&block.data, block.count * 4));
    fill<<<1, 256>>>(block.data, block.count, block.seed);
  }
  for (Block& block : blocks) HIP_CHECK(hipFree(block.data));
  size_t free_after = 0;
  HIP_CHECK(hipMemGetInfo(&free_after, &total));
  EXPECT_EQ(free_after, free_before);

  uint32_t* pooled = nullptr;
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  const hipError_t status = hipMallocAsync(reinterpret_cast<void**>(&pooled), 4096, stream);
  EXPECT_TRUE(status == hipSuccess || status == hipErrorNotSupported);
  if (status == hipSuccess) {
    fill<<<1, 256, 0, stream>>>(pooled, 1024, 5);
    std::vector<uint32_t> got(1024);
    HIP_CHECK(hipMemcpyAsync(got.data(), pooled, 4096, hipMemcpyDeviceToHost, stream));
    HIP_CHECK(hipFreeAsync(pooled, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_EACH(got, [](size_t i) { return check::scramble(5 + static_cast<uint32_t>(i)); });
    // hipStreamDestroy of HIP 5.2.3 loops forever if the stream has memory in the pool.
    hipMemPool_t pool;
    HIP_CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
    HIP_CHECK(hipMemPoolTrimTo(pool, 0));
  }
  HIP_CHECK(hipStreamDestroy(stream));

  // Frees a pointer that was not allocated.
  int local = 0;
  EXPECT_STATUS(hipFree(&local), hipErrorInvalidValue);
  return check::result();
}
