// Observes the threads of the program and decides whether simulated time may advance.
//
// Simulated time stands still while a thread of the program runs, so that the program's work between two waits for the GPUs
// takes no simulated time, on any host. It advances when every thread waits: for the GPUs (HostWaits), or in a system call for
// another thread or for an event outside of the process. Linux reports this for each thread of the process (/proc/self/task,
// proc(5)).
//
// A thread that neither waits nor calls the runtime for a long time is disregarded until it does: it may be polling memory for
// a GPU's result. A thread that sleeps on a host timer is disregarded as well. Only in these cases do simulated times depend on
// the host. Since they then depend on the host anyway, the same thread is next disregarded after one eighth of the host time: a
// runtime without interrupts (HSA_ENABLE_INTERRUPT=0) waits this way for every kernel.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace lacuna::rocm {

class HostThreads {
 public:
  /// `patience`: processor time that a thread may use, or host time that it may sleep, before it is disregarded.
  explicit HostThreads(std::chrono::nanoseconds patience);

  /// Records that the calling thread calls the runtime. The call costs little host time.
  static void note_call();

  struct Look {
    bool quiet = false;        ///< every thread waits, or is disregarded
    bool ran = false;          ///< a thread may have run since the last look
    bool disregarded = false;  ///< a disregarded thread has called the runtime, or does not sleep
    bool computing = false;    ///< not quiet, and each thread that prevents `quiet` has run for kMoment since begin_moment()
    pid_t given_up = 0;        ///< a caller of the runtime that this look has disregarded for the first time; 0 if none
  };
  /// Processor time that a thread uses, or host time that it sleeps, before it counts as computing. Longer than the time that a
  /// new thread of the runtime uses until it waits.
  static constexpr std::chrono::milliseconds kMoment{20};
  /// Called on the simulation thread. `waiting`: threads that wait for the GPUs or are about to; like the simulator's threads,
  /// they may hold a lock until Linux reports them as waiting. `spinning`: number of other threads that wait for the GPUs;
  /// which threads these are is not known.
  Look look(std::span<const pid_t> waiting, unsigned spinning = 0);
  /// Restarts the kMoment after which each thread counts as computing.
  void begin_moment();
  /// Takes disregarded threads into account again, and restarts the account of the time that each thread uses.
  void forgive();
  /// Patience for a thread that has been disregarded `times` times: divided by eight each time, but at least 1 ms, or
  /// `patience` if that is shorter.
  static std::chrono::nanoseconds patience_after(std::chrono::nanoseconds patience, unsigned times);
  /// Fast check: whether the process has only the simulator's threads and `waiting` others, which are known to wait.
  static bool all_wait(unsigned waiting);

 private:
  struct Thread {
    std::uint64_t calls = 0;                        ///< calls to the runtime up to `since`
    std::uint64_t run_ns = 0;                       ///< processor time at `since`
    std::uint64_t first_slice = 0;                  ///< value of `slices` at `since`
    std::uint64_t slices = 0;                       ///< number of times the thread was scheduled, up to the last look
    std::chrono::steady_clock::time_point since{};  ///< last look that found that a wait was over or a new call was made
    std::chrono::nanoseconds spent{};               ///< time charged from `since` to the last look
    std::chrono::nanoseconds moment{};              ///< value of `spent` at begin_moment()
    bool waits = true;
    bool disregarded = false;
    unsigned times_disregarded = 0;
    std::uint64_t seen = 0;  ///< number of the last scan of /proc/self/task that found the thread
  };

  const std::chrono::nanoseconds patience_;
  std::unordered_map<pid_t, Thread> threads_;
  std::uint64_t looks_ = 0;
};

}  // namespace lacuna::rocm
