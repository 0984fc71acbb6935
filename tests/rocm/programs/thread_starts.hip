// Tests that a new thread runs until its first wait before its creator continues, even if the host does not schedule the new
// thread for a long time. The new thread's actions until this wait, kernel launches included, precede the creator's next
// actions. A thread that computes for a long time delays its creator only for a moment.
#include <time.h>

#include <thread>

#include "../check.h"

namespace {

constexpr uint32_t kRounds = 8;

__global__ void append(uint32_t* log, uint32_t value) { log[1 + log[0]++] = value; }

double processor_seconds() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void compute(double seconds) {
  const double begin = processor_seconds();
  while (processor_seconds() - begin < seconds) {
  }
}

// Both threads launch to one stream. The new thread computes before it launches. If both threads ran concurrently, its kernel
// would therefore nearly always be the second.
void new_threads_go_first() {
  check::DeviceArray<uint32_t> log(1 + 2 * kRounds);
  log.clear();
  append<<<1, 1>>>(log.data(), 0);  // loads the code in advance, which takes longer than a creator waits
  HIP_CHECK(hipDeviceSynchronize());
  log.clear();
  for (uint32_t round = 0; round < kRounds; ++round) {
    std::atomic<bool> computed{false};
    std::thread thread([&] {
      compute(0.002);
      computed = true;
      append<<<1, 1>>>(log.data(), 2 * round);
      HIP_CHECK(hipDeviceSynchronize());
    });
    EXPECT_TRUE(computed);
    append<<<1, 1>>>(log.data(), 2 * round + 1);
    HIP_CHECK(hipDeviceSynchronize());
    thread.join();
  }
  std::vector<uint32_t> values = log.download();
  EXPECT_EQ(values[0], 2 * kRounds);
  values.erase(values.begin());
  EXPECT_EACH(values, [](size_t i) { return static_cast<uint32_t>(i); });
}

// The new threads poll memory until their creators write it.
void creators_go_on() {
  for (const bool yields : {false, true}) {
    std::atomic<bool> go{false};
    std::thread thread([&] {
      while (!go)
        if (yields) std::this_thread::yield();
    });
    go = true;
    thread.join();
  }
}

}  // namespace

int main() {
  new_threads_go_first();
  creators_go_on();
  return check::result();
}
