// What the threads of the program do: whether simulated time may go on.
//
// Simulated time stands still while a thread of the program runs, so that what a program does between two waits for the GPUs
// takes no simulated time, on any host. It goes on when every thread waits: for the GPUs (HostWaits), or in the kernel for
// another thread or for something outside of the process. The kernel's lists of the process's threads tell
// (/proc/self/task, proc(5)).
//
// A thread that neither waits nor calls the runtime for a long time is disregarded until it does again: it may wait for a GPU
// by reading memory. So is one that sleeps by a timer of the host. Only then do simulated times depend on the host. As they do
// so from then on, less patience is left for the same thread's next wait of that kind, in the host's time: a runtime without
// interrupts (HSA_ENABLE_INTERRUPT=0) waits so for every kernel.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace lacuna::rocm {

class HostThreads {
 public:
  /// `patience`: processor time that a thread may use, or the host's time that it may sleep, before it is disregarded.
  explicit HostThreads(std::chrono::nanoseconds patience);

  /// The calling thread calls the runtime. Cheap.
  static void note_call();

  struct Look {
    bool quiet = false;        ///< every thread waits, or is disregarded
    bool ran = false;          ///< a thread may have run since the last look
    bool disregarded = false;  ///< a thread that does not wait is disregarded
    bool computing = false;    ///< not quiet, and each thread that prevents it has run for kMoment since the last moment
    pid_t given_up = 0;        ///< a thread that is disregarded from now on, for the first time
  };
  /// Processor time that a thread uses, or the host's time that it sleeps, before it counts as computing: a choice, more than
  /// a new thread of the runtime uses until it waits.
  static constexpr std::chrono::milliseconds kMoment{20};
  /// From the simulation thread. `waiting`: threads that wait for the GPUs or are about to; like the simulator's they may hold
  /// a lock until the kernel says so. `spinning`: how many others wait for the GPUs, which of them not being known.
  Look look(std::span<const pid_t> waiting, unsigned spinning = 0);
  /// The next moment of threads that compute begins.
  void begin_moment();
  /// From now on no thread is disregarded: the time that they have used so far does not count.
  void forgive();
  /// What is left of `patience` for a thread that has been disregarded `times` times: an eighth each time, but 1 ms at least.
  static std::chrono::nanoseconds patience_after(std::chrono::nanoseconds patience, unsigned times);
  /// Whether there are no threads but the simulator's and `waiting` ones, which are known to wait: a fast look.
  static bool all_wait(unsigned waiting);

 private:
  struct Thread {
    std::uint64_t calls = 0;                        ///< of the runtime, at the last look
    std::uint64_t run_ns = 0;                       ///< processor time when it was first seen not to wait
    std::uint64_t first_slice = 0;                  ///< slices then
    std::uint64_t slices = 0;                       ///< times that it got a processor, at the last look
    std::chrono::steady_clock::time_point since{};  ///< when it was first seen not to wait
    std::chrono::nanoseconds spent{};               ///< since then, at the last look
    std::chrono::nanoseconds moment{};              ///< `spent` when its present moment began
    bool waits = true;
    bool disregarded = false;
    unsigned times_disregarded = 0;
    std::uint64_t seen = 0;  ///< number of the look that saw it last
  };

  const std::chrono::nanoseconds patience_;
  std::unordered_map<pid_t, Thread> threads_;
  std::uint64_t looks_ = 0;
};

}  // namespace lacuna::rocm
