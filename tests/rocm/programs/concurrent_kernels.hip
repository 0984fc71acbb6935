// Tests that two kernels of different streams run concurrently: each waits for values that the other kernel writes. On a
// machine that serialises the queues this program hangs.
#include "../check.h"

__global__ void play(int* mine, int* other, int rounds, int first) {
  if (threadIdx.x != 0) return;
  for (int round = 1; round <= rounds; ++round) {
    if (first == 0) {
      while (__hip_atomic_load(other, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < round) __builtin_amdgcn_s_sleep(1);
    }
    __hip_atomic_store(mine, round, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    if (first != 0) {
      while (__hip_atomic_load(other, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < round) __builtin_amdgcn_s_sleep(1);
    }
  }
}

// All workgroups of a small grid must run concurrently: a token passes through a chain from the first to the last and back.
__global__ void chain(int* tokens) {
  if (threadIdx.x != 0) return;
  const int me = static_cast<int>(blockIdx.x), last = static_cast<int>(gridDim.x) - 1;
  while (me != 0 && __hip_atomic_load(&tokens[me - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  __hip_atomic_store(&tokens[me], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  while (me != last && __hip_atomic_load(&tokens[me + 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != 2)
    __builtin_amdgcn_s_sleep(1);
  __hip_atomic_store(&tokens[me], 2, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

int main() {
  constexpr int kRounds = 50;
  hipStream_t first, second;
  HIP_CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  check::DeviceArray<int> flags(std::vector<int>(64, 0));
  play<<<1, 64, 0, first>>>(flags.data(), flags.data() + 32, kRounds, 0);
  play<<<1, 64, 0, second>>>(flags.data() + 32, flags.data(), kRounds, 1);
  HIP_CHECK(hipStreamSynchronize(first));
  HIP_CHECK(hipStreamSynchronize(second));
  const std::vector<int> got = flags.download();
  EXPECT_EQ(got[0], kRounds);
  EXPECT_EQ(got[32], kRounds);
  HIP_CHECK(hipStreamDestroy(first));
  HIP_CHECK(hipStreamDestroy(second));

  check::DeviceArray<int> tokens(std::vector<int>(8, 0));
  chain<<<8, 64>>>(tokens.data());
  EXPECT_EACH(tokens.download(), [](size_t) { return 2; });
  return check::result();
}
