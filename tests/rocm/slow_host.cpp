// A library that is preloaded into a program under test to simulate a host that preempts threads for a long time at critical
// places. The program's threads lose up to 4 ms of processor time each time, at arbitrary places and sometimes before they
// yield the processor, as in the runtime's polling loops. The simulation must not depend on these delays.
//
// SLOW_HOST: seed of the random delays; 0 or missing: no delays.
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kLongest = 4'000'000;  // ns
constexpr suseconds_t kInterval = 3'000;      // microseconds of the process' processor time between two delays
constexpr unsigned kYieldsPerDelay = 4;

std::atomic<std::uint64_t> state{0};

std::uint64_t random_number() {
  std::uint64_t x = state.fetch_add(0x9e3779b97f4a7c15U) + 0x9e3779b97f4a7c15U;  // SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void delay() {
  const std::int64_t end = processor_time() + static_cast<std::int64_t>(random_number() % kLongest);
  while (processor_time() < end) {
  }
}

__attribute__((constructor)) void start() {
  const char* const seed = std::getenv("SLOW_HOST");
  if (seed == nullptr || std::atoi(seed) == 0) return;
  state = static_cast<std::uint64_t>(std::atoi(seed));
  struct sigaction action {};
  action.sa_handler = [](int) { delay(); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  const itimerval timer{.it_interval = {0, kInterval}, .it_value = {0, kInterval}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept {
  if (state != 0 && random_number() % kYieldsPerDelay == 0) delay();
  static auto* const next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "sched_yield"));
  return next();
}
