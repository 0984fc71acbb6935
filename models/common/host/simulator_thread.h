// Registry of the simulator's threads, for a process that also contains the threads of a ROCm program (drivers/rocm).
#pragma once

#include <sys/types.h>
#include <functional>
#include <thread>

namespace lacuna {

/// Registration of a simulator thread: an object on the thread's stack that exists as long as the thread runs.
class SimulatorThread {
 public:
  SimulatorThread();
  ~SimulatorThread();
  SimulatorThread(const SimulatorThread&) = delete;
  SimulatorThread& operator=(const SimulatorThread&) = delete;

  /// Starts a simulator thread that runs `work`; returns when the thread is registered. Throws std::system_error if the host
  /// cannot start a thread.
  static std::thread start(std::function<void()> work);
  /// Number of running simulator threads.
  static unsigned count();
  /// Whether thread `id` (gettid) is a simulator thread.
  static bool contains(pid_t id);
  /// Whether the calling thread is a simulator thread. Takes no lock.
  static bool is_current();
};

}  // namespace lacuna
