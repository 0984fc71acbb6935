// A program that ends in the way selected by the first argument. The second argument selects what is pending at that time:
// nothing, a kernel that takes some time, or a kernel that never ends.
#include <signal.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "../check.h"

namespace {

__global__ void wait_until(const volatile int* flag, long rounds, int* out, int* started) {
  __hip_atomic_store(started, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  for (long i = 0; *flag == 0 && i != rounds; ++i) __builtin_amdgcn_s_sleep(10);
  *out = 1;
}

// A static object whose destructor calls HIP.
struct AtExit {
  int* memory = nullptr;
  ~AtExit() {
    if (memory != nullptr) (void)hipFree(memory);
  }
};
AtExit static_object;

}  // namespace

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "return", pending = argc > 2 ? argv[2] : "nothing";
  int* memory = nullptr;
  HIP_CHECK(hipMalloc(&memory, 4096));
  HIP_CHECK(hipMemset(memory, 0, 4096));
  HIP_CHECK(hipDeviceSynchronize());
  hipStream_t stream;
  HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  if (pending != "nothing") {
    int* started = nullptr;
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&started), sizeof *started));
    *started = 0;
    wait_until<<<2, 64, 0, stream>>>(memory, pending == "endless" ? -1 : 2000, memory + 1, started);
    HIP_CHECK(hipGetLastError());
    while (__atomic_load_n(started, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
  }
  std::printf("ending by %s\n", end.c_str());
  std::fflush(stdout);

  if (end == "return") return 7;
  if (end == "exit") std::exit(7);
  if (end == "quick-exit") std::_Exit(7);
  if (end == "exception") throw std::runtime_error("nobody catches this");
  if (end == "abort") std::abort();
  if (end == "terminate-signal") raise(SIGTERM);
  if (end == "interrupt-signal") raise(SIGINT);
  if (end == "kill-signal") raise(SIGKILL);
  if (end == "segmentation-fault") *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
  if (end == "wait-for-signal") pause();
  if (end == "thread") {
    std::thread([] { std::exit(7); }).join();
  }
  if (end == "reset") {
    HIP_CHECK(hipDeviceReset());
    return 7;
  }
  if (end == "static-destructor") {
    static_object.memory = memory;
    return 7;
  }
  if (end == "handler") {
    // The program's own handler is called, and nothing else ends the program.
    static volatile sig_atomic_t handled = 0;
    signal(SIGTERM, [](int) { handled = 1; });
    raise(SIGTERM);
    return handled != 0 ? 7 : 8;
  }
  std::fprintf(stderr, "unknown: %s\n", end.c_str());
  return 2;
}
