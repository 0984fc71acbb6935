// Waits of program threads for the GPUs: for a condition on memory or events, or for simulated time.
//
// A thread in such a wait is known to do nothing else; the simulation thread relies on that (host_threads.h). The simulation
// thread evaluates the conditions whenever a GPU may have changed a value that they depend on, and wakes a thread at the
// simulated time at which its condition begins to hold, regardless of the speed of the host. If several waits are over at the
// same time, their threads are released one at a time, in the order in which the waits began, each when all threads wait again:
// the order in which they submit work to the GPUs does not depend on the host.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna::rocm {

/// Number of program threads that can call the driver and wait in it simultaneously without an allocation on the program's
/// heap. The number of overlapping calls depends on the host, but the layout of the heap must not.
inline constexpr unsigned kExpectedThreads = 64;

class HostWaits {
 public:
  /// Evaluated on any thread, one at a time; must not block.
  using Condition = std::function<bool()>;

  struct Limits {
    Tick simulated{kForever};                                         ///< longest wait in simulated time
    std::chrono::nanoseconds host = std::chrono::nanoseconds::max();  ///< longest wait in host time
    bool only_while_active = false;                                   ///< the wait also ends when no GPU has work
    bool brief = false;                                               ///< the wait also ends with release_brief()
  };
  static constexpr Tick kForever{~std::uint64_t{0} >> 1};

  HostWaits() { waits_.reserve(kExpectedThreads); }

  /// Blocks the calling thread until `over()` holds or a limit is reached; returns whether `over()` holds.
  bool wait(const Condition& over, const Limits& limits);
  /// Call when a value that conditions may depend on has changed: ends the waits whose conditions hold; false if there are
  /// none. release() then lets their threads continue. From any thread.
  bool evaluate();
  /// Call on a program thread that wakes or has started others: evaluates the conditions, and blocks the caller until each of
  /// those threads waits again, as if the caller had begun a wait that is already over.
  void give_way() { give_way(false); }
  /// As give_way(), but blocks only briefly while other threads compute: see release_brief().
  void give_way_briefly() { give_way(true); }
  /// Call on a thread that polls for an action of another thread or a GPU and yields the processor between two checks. The
  /// first call at each simulated time gives way; the next call blocks until kYield of simulated time has passed, or until no
  /// GPU has work. Both calls block only briefly while other threads compute: the thread then gives way once more before it
  /// lets time pass, since the others may have acted after its last check.
  void yield();

  /// Sets a function that is called on each thread whose wait has begun, and on each thread whose evaluate() has ended a wait.
  void on_change(std::function<void()> called) { on_change_ = std::move(called); }

  /// Simulated time at the last step of the simulation.
  Tick now() const { return Tick{now_.load(std::memory_order_acquire)}; }

  // The following functions are called on the simulation thread.
  struct Threads {
    unsigned blocked = 0;      ///< number of threads in a wait and not released
    bool over = false;         ///< the wait of a blocked thread is over
    bool waking = false;       ///< a thread has been released and has not left its wait yet
    bool ends_itself = false;  ///< a wait ends at a simulated time, or when no GPU has work
    bool brief = false;        ///< a blocked thread can be released by release_brief()
    Tick next{kForever};       ///< the earliest simulated time at which a wait ends
    std::uint64_t begun = 0;   ///< value of begun() at this call
  };
  /// Sets the simulated time, and ends the waits whose conditions hold or whose limits are reached.
  Threads advance(Tick now);
  /// Call when no GPU has work: ends the waits with `only_while_active`; false if there are none.
  bool idle();
  /// Releases the thread whose wait began first among those that are over.
  void release();
  /// Call when the running threads have computed for HostThreads::kMoment: ends the first brief wait that has not been
  /// released, so that its thread continues concurrently with the running threads. The simulation thread makes this decision:
  /// the waiting thread would have to use the host's clock, which also advances while the process has no processor.
  void release_brief();
  /// Number of waits that have begun so far.
  std::uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  /// Threads in a wait that have not been released.
  std::vector<pid_t> blocked_threads();
  /// Call when the simulation has ended: ends all waits, present and future, as if their limits were reached.
  void end();

 private:
  using HostClock = std::chrono::steady_clock;

  struct Wait {
    const Condition& condition;
    Tick deadline;
    bool only_while_active;
    bool brief;
    pid_t thread;
    std::condition_variable wake;
    bool over = false;
    bool holds = false;
    bool released = false;
    bool beside_others = false;  ///< released while other threads computed
  };

  struct End {
    bool holds = false;          ///< the condition held when the wait ended
    bool beside_others = false;  ///< the thread was released while other threads computed
  };

  End wait_for(const Condition& over, const Limits& limits);
  End give_way(bool briefly);
  bool evaluate_locked();
  /// Registers the wait and calls on_change_, for which `lock` is released.
  void enter(Wait& wait, std::unique_lock<std::mutex>& lock);
  /// Blocks until the wait is released. Returns false if `longest` has passed since `begin` before that.
  static bool await_release(Wait& wait, std::unique_lock<std::mutex>& lock, HostClock::time_point begin,
                            std::chrono::nanoseconds longest);
  static void finish(Wait& wait, bool holds);
  static void release(Wait& wait);

  std::mutex mutex_;
  std::vector<Wait*> waits_;  ///< present waits, in the order in which they began
  std::function<void()> on_change_;
  std::atomic<std::uint64_t> now_{0};
  std::atomic<std::uint64_t> begun_{0};
  bool ended_ = false;
};

}  // namespace lacuna::rocm
