// What liblacuna_threads.so has of the program's threads, for the driver.
#pragma once

namespace lacuna::rocm {

/// Called from any thread of the process, the simulator's included.
struct ThreadHooks {
  /// Instead of sched_yield(); false: the thread is to yield the processor as usual.
  bool (*yield)();
  /// By the thread that has created another one, before its pthread_create() returns.
  void (*created)();
  /// By a thread that has unlocked a mutex for which another one waits, before its pthread_mutex_unlock() returns to `caller`.
  void (*handed_over)(const void* caller);
};
/// Name and type of the library's function that sets the hooks, which live as long as the process; null: none.
inline constexpr const char* kSetThreadHooks = "lacuna_set_thread_hooks";
using SetThreadHooks = void(const ThreadHooks*);

}  // namespace lacuna::rocm
