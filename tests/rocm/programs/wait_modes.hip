// Tests each way in which the runtime can wait for the GPU (spinning, yielding, sleeping until an interrupt), for a kernel that
// another thread ends. The waiting thread sleeps regardless of the mode that the program requests.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "../check.h"

__global__ void wait_for(const volatile int* flag, int* out, int* started) {
  if (threadIdx.x != 0) return;
  __hip_atomic_store(started, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  while (*flag == 0) __builtin_amdgcn_s_sleep(10);
  *out = *flag;
}

/// Whether the Linux kernel reports that the thread sleeps: the state follows the name, which is in brackets.
bool sleeps(pid_t thread) {
  char text[512] = {};
  std::FILE* file = std::fopen(("/proc/self/task/" + std::to_string(thread) + "/stat").c_str(), "r");
  if (file == nullptr) return false;
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* name_end = size == 0 ? nullptr : std::strrchr(text, ')');
  return name_end != nullptr && std::strncmp(name_end, ") S", 3) == 0;
}

/// Whether the thread sleeps in ten consecutive checks. A thread that spins, yields or waits for a lock from time to time is
/// never considered asleep.
bool comes_to_rest(pid_t thread) {
  int asleep = 0;
  for (int look = 0; look < 20'000 && asleep < 10; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    asleep = sleeps(thread) ? asleep + 1 : 0;
  }
  return asleep == 10;
}

int main(int argc, char** argv) {
  const unsigned flags[] = {hipDeviceScheduleAuto, hipDeviceScheduleSpin, hipDeviceScheduleYield,
                            hipDeviceScheduleBlockingSync};
  const int mode = argc > 1 ? std::atoi(argv[1]) : 0;
  HIP_CHECK(hipSetDeviceFlags(flags[mode]));
  int* memory = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&memory), 64));
  memory[0] = memory[1] = memory[2] = 0;
  wait_for<<<1, 64>>>(memory, memory + 1, memory + 2);
  // Another thread sets the flag when the GPU kernel runs and this thread waits for it.
  const pid_t waiter = gettid();
  std::thread other([&] {
    while (__atomic_load_n(&memory[2], __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
    EXPECT_TRUE(comes_to_rest(waiter));
    __atomic_store_n(&memory[0], 42, __ATOMIC_SEQ_CST);
  });
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_EQ(memory[1], 42);
  other.join();
  HIP_CHECK(hipHostFree(memory));
  return check::result();
}
