// Each way the runtime can wait for the GPU, and work that arrives while it waits: spinning, yielding, sleeping until an
// interrupt. Whatever the program asks for, its thread sleeps.
#include <ctime>
#include <thread>

#include "../check.h"

__global__ void wait_for(const volatile int* flag, int* out) {
  if (threadIdx.x != 0) return;
  while (*flag == 0) __builtin_amdgcn_s_sleep(10);
  *out = *flag;
}

/// Of the calling thread, in seconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

int main(int argc, char** argv) {
  const unsigned flags[] = {hipDeviceScheduleAuto, hipDeviceScheduleSpin, hipDeviceScheduleYield,
                            hipDeviceScheduleBlockingSync};
  const int mode = argc > 1 ? std::atoi(argv[1]) : 0;
  HIP_CHECK(hipSetDeviceFlags(flags[mode]));
  int* memory = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&memory), 64));
  memory[0] = memory[1] = 0;
  wait_for<<<1, 64>>>(memory, memory + 1);
  // Another thread sets the flag while this one waits for the kernel.
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    __atomic_store_n(&memory[0], 42, __ATOMIC_SEQ_CST);
  });
  const double before = processor_time();
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_BETWEEN(processor_time() - before, 0.0, 0.1);
  other.join();
  EXPECT_EQ(memory[1], 42);
  HIP_CHECK(hipHostFree(memory));
  return check::result();
}
