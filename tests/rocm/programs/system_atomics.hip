// Tests memory that host and GPU share while a kernel runs: counters to which both add, a ring of messages, and a token that
// they increment in turn.
#include <thread>

#include "../check.h"

namespace {

struct Shared {
  alignas(64) unsigned counter;
  alignas(64) unsigned long long wide;
  alignas(64) int to_device;
  alignas(64) int to_host;
  alignas(64) int messages[16];
  alignas(64) int swap;
};

__global__ void count(Shared* shared, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    atomicAdd_system(&shared->counter, 1u);
    atomicAdd_system(&shared->wide, 0x100000001ull);
  }
}

__global__ void answer(Shared* shared, int rounds) {
  if (threadIdx.x != 0) return;
  for (int round = 1; round <= rounds; ++round) {
    while (__hip_atomic_load(&shared->to_device, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < round)
      __builtin_amdgcn_s_sleep(1);
    shared->messages[round % 16] = shared->messages[round % 16] * 2 + 1;
    __hip_atomic_store(&shared->to_host, round, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

// Host and GPU increment the token in turn by compare-and-swap: the GPU if it is even, the host if it is odd.
__global__ void take_turns(int* token, int rounds) {
  if (threadIdx.x != 0) return;
  for (int round = 0; round < rounds; ++round) {
    while (atomicCAS_system(token, 2 * round, 2 * round + 1) != 2 * round) __builtin_amdgcn_s_sleep(1);
  }
}

}  // namespace

int main() {
  Shared* shared = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&shared), sizeof(Shared), hipHostMallocCoherent | hipHostMallocMapped));
  *shared = {};

  // The first kernel of a program loads code and compiles the runtime's own kernels; this must not delay the GPU's counting,
  // which is to overlap with the host's.
  count<<<1, 64>>>(shared, 0);
  HIP_CHECK(hipDeviceSynchronize());
  constexpr unsigned kHost = 200000, kRounds = 40, kThreads = 512;
  count<<<kThreads / 64, 64>>>(shared, kRounds);
  for (unsigned i = 0; i < kHost; ++i) {
    __atomic_fetch_add(&shared->counter, 1u, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared->wide, 1ull, __ATOMIC_RELAXED);
  }
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(shared->counter, kHost + kRounds * kThreads);
  EXPECT_EQ(shared->wide, kHost + static_cast<unsigned long long>(kRounds) * kThreads * 0x100000001ull);

  constexpr int kMessages = 100;
  answer<<<1, 64>>>(shared, kMessages);
  bool right = true;
  for (int round = 1; round <= kMessages; ++round) {
    shared->messages[round % 16] = round;
    __atomic_store_n(&shared->to_device, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&shared->to_host, __ATOMIC_ACQUIRE) < round) std::this_thread::yield();
    right = right && shared->messages[round % 16] == 2 * round + 1;
  }
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_TRUE(right);
  EXPECT_EQ(shared->to_host, kMessages);

  take_turns<<<1, 64>>>(&shared->swap, 50);
  for (int round = 0; round < 50; ++round) {
    for (int expected = 2 * round + 1;
         !__atomic_compare_exchange_n(&shared->swap, &expected, 2 * round + 2, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
         expected = 2 * round + 1) {
      std::this_thread::yield();
    }
  }
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(shared->swap, 100);
  HIP_CHECK(hipHostFree(shared));
  return check::result();
}
