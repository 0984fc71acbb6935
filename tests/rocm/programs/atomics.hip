// Tests atomic operations in device memory: every operation, several types, with and without returned values, and a lock.
#include "../check.h"

namespace {

constexpr int kThreads = 2048;

struct Cells {
  int add, sub, minimum, maximum, swapped;
  unsigned anded, ored, xored, wrapped_up, wrapped_down, unsigned_max;
  float float_sum;
  unsigned long long long_sum, long_max, long_or;
  double double_sum;
  unsigned locked, counter_of_lock;
};

__global__ void update(Cells* cells, unsigned* tickets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tickets[atomicAdd(&cells->add, 1)] += 1;
  atomicSub(&cells->sub, 2);
  atomicMin(&cells->minimum, static_cast<int>(check::scramble(i) % 1000000));
  atomicMax(&cells->maximum, -static_cast<int>(check::scramble(i) % 1000000));
  atomicMax(&cells->unsigned_max, 0x80000000u + check::scramble(i) % 1000000);
  atomicAnd(&cells->anded, ~(1u << (i % 7)));
  atomicOr(&cells->ored, 1u << (i % 31));
  atomicXor(&cells->xored, check::scramble(i));
  atomicInc(&cells->wrapped_up, 99);
  atomicDec(&cells->wrapped_down, 99);
  atomicAdd(&cells->float_sum, 0.5f);
  atomicAdd(&cells->long_sum, 0x100000001ull);
  atomicMax(&cells->long_max, static_cast<unsigned long long>(check::scramble(i)) << 20);
  atomicOr(&cells->long_or, 1ull << (i % 60));
  atomicAdd(&cells->double_sum, 0.25);
  atomicExch(&cells->swapped, i + 1);
}

// A lock that only one lane of a wavefront tries to take at a time.
__global__ void locked_increment(Cells* cells) {
  for (int lane = 0; lane < 64; ++lane) {
    if (static_cast<int>(threadIdx.x % 64) != lane) continue;
    while (atomicCAS(&cells->locked, 0u, 1u) != 0u) {
    }
    __threadfence();
    const unsigned old = *static_cast<volatile unsigned*>(&cells->counter_of_lock);
    *static_cast<volatile unsigned*>(&cells->counter_of_lock) = old + 1;
    __threadfence();
    atomicExch(&cells->locked, 0u);
  }
}

__global__ void no_return(float* sums, int* counts) {
  atomicAdd(&sums[threadIdx.x % 8], 1.0f);
  atomicAdd(&counts[threadIdx.x % 8], 3);
}

__global__ void compare_and_swap_sum(unsigned long long* value) {
  unsigned long long old = *value, seen;
  do {
    seen = old;
    old = atomicCAS(value, seen, seen * 3 + 1 > seen ? seen + 7 : seen);
  } while (old != seen);
}

}  // namespace

int main() {
  Cells start = {};
  start.minimum = 1 << 30;
  start.maximum = -(1 << 30);
  start.anded = 0xffffffffu;
  const check::DeviceArray<Cells> cells(std::vector<Cells>{start});
  const check::DeviceArray<unsigned> tickets(std::vector<unsigned>(kThreads, 0));
  update<<<kThreads / 256, 256>>>(cells.data(), tickets.data());
  HIP_CHECK(hipGetLastError());
  Cells got = cells.download()[0];

  uint32_t smallest = UINT32_MAX, xored = 0;
  uint64_t largest_long = 0;
  uint32_t largest = 0;
  for (int i = 0; i < kThreads; ++i) {
    smallest = std::min(smallest, check::scramble(i) % 1000000);
    largest = std::max(largest, check::scramble(i) % 1000000);
    largest_long = std::max(largest_long, static_cast<uint64_t>(check::scramble(i)) << 20);
    xored ^= check::scramble(i);
  }
  EXPECT_EACH(tickets.download(), [](size_t) { return 1u; });
  EXPECT_EQ(got.add, kThreads);
  EXPECT_EQ(got.sub, -2 * kThreads);
  EXPECT_EQ(got.minimum, static_cast<int>(smallest));
  EXPECT_EQ(got.maximum, -static_cast<int>(smallest));
  EXPECT_EQ(got.unsigned_max, 0x80000000u + largest);
  EXPECT_EQ(got.anded, 0xffffff80u);
  EXPECT_EQ(got.ored, 0x7fffffffu);
  EXPECT_EQ(got.xored, xored);
  EXPECT_EQ(got.wrapped_up, static_cast<unsigned>(kThreads % 100));
  EXPECT_EQ(got.wrapped_down, static_cast<unsigned>((100 - kThreads % 100) % 100));
  EXPECT_EQ(got.float_sum, kThreads * 0.5f);
  EXPECT_EQ(got.long_sum, static_cast<unsigned long long>(kThreads) * 0x100000001ull);
  EXPECT_EQ(got.long_max, largest_long);
  EXPECT_EQ(got.long_or, (1ull << 60) - 1);
  EXPECT_EQ(got.double_sum, kThreads * 0.25);
  EXPECT_BETWEEN(got.swapped, 1, kThreads);  // the value of the last thread

  locked_increment<<<4, 128>>>(cells.data());
  got = cells.download()[0];
  EXPECT_EQ(got.counter_of_lock, 512u);
  EXPECT_EQ(got.locked, 0u);

  const check::DeviceArray<float> sums(std::vector<float>(8, 0.0f));
  const check::DeviceArray<int> counts(std::vector<int>(8, 0));
  no_return<<<2, 256>>>(sums.data(), counts.data());
  EXPECT_EACH(sums.download(), [](size_t) { return 64.0f; });
  EXPECT_EACH(counts.download(), [](size_t) { return 192; });

  const check::DeviceArray<unsigned long long> value(std::vector<unsigned long long>{1});
  compare_and_swap_sum<<<2, 64>>>(value.data());
  EXPECT_EQ(value.download()[0], 1ull + 7 * 128);
  return check::result();
}
