// Tests many host threads that use the GPU concurrently: separate streams, allocation, copies, launches, registered memory.
#include <thread>

#include "../check.h"

namespace {

constexpr int kThreads = 8, kRounds = 12, kCount = 3000;

__global__ void step(uint32_t* values, uint32_t seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) values[i] = check::scramble(values[i] + seed);
}

void work(uint32_t thread) {
  HIP_CHECK(hipSetDevice(0));
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  std::vector<uint32_t> values(kCount), expected(kCount);
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t i = 0; i < kCount; ++i) {
      values[i] = i * thread + round;
      expected[i] = check::scramble(check::scramble(values[i] + thread) + round);
    }
    const check::DeviceArray<uint32_t> array(kCount);
    const bool pinned = round % 4 == 1;
    if (pinned) HIP_CHECK(hipHostRegister(values.data(), array.bytes(), hipHostRegisterDefault));
    HIP_CHECK(hipMemcpyAsync(array.data(), values.data(), array.bytes(), hipMemcpyHostToDevice, stream));
    step<<<(kCount + 255) / 256, 256, 0, stream>>>(array.data(), thread);
    step<<<(kCount + 255) / 256, 256, 0, stream>>>(array.data(), round);
    HIP_CHECK(hipMemcpyAsync(values.data(), array.data(), array.bytes(), hipMemcpyDeviceToHost, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    if (pinned) HIP_CHECK(hipHostUnregister(values.data()));
    EXPECT_EACH(values, [&](size_t i) { return expected[i]; });
  }
  HIP_CHECK(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  return check::result();
}
