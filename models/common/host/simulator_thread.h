// Threads that belong to the simulator, in a process that has threads of a program as well (drivers/rocm).
#pragma once

#include <sys/types.h>
#include <functional>
#include <thread>

namespace lacuna {

/// Lives on the stack of a thread of the simulator for as long as the thread runs.
class SimulatorThread {
 public:
  SimulatorThread();
  ~SimulatorThread();
  SimulatorThread(const SimulatorThread&) = delete;
  SimulatorThread& operator=(const SimulatorThread&) = delete;

  /// Starts a thread of the simulator that does `work`; returns when it is registered. std::system_error when the host has no
  /// thread left.
  static std::thread start(std::function<void()> work);
  /// Threads of the simulator that run now.
  static unsigned count();
  /// Whether thread `id` (gettid) is one of them.
  static bool contains(pid_t id);
  /// Whether the calling thread is one of them. Cheap.
  static bool is_current();
};

}  // namespace lacuna
