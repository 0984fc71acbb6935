// Interface between liblacuna_threads.so, which interposes thread functions, and the driver.
#pragma once

namespace lacuna::rocm {

/// Functions of the driver. They are called on any thread of the process, the simulator's included.
struct ThreadHooks {
  /// Replaces sched_yield(); if it returns false, the thread yields the processor as usual.
  bool (*yield)();
  /// Called on a thread that has created another thread, before its pthread_create() returns.
  void (*created)();
  /// Called on a thread that has unlocked a mutex for which another thread waits, before pthread_mutex_unlock() returns to
  /// `caller`.
  void (*handed_over)(const void* caller);
};
/// Name and type of the library's function that sets the hooks. The hooks must live as long as the process; null removes them.
inline constexpr const char* kSetThreadHooks = "lacuna_set_thread_hooks";
using SetThreadHooks = void(const ThreadHooks*);

}  // namespace lacuna::rocm
