// Threads of the program that wait for the GPUs: for a condition on memory or events, or for simulated time.
//
// While such a thread waits, it is known that it does nothing else; the simulation thread relies on that (host_threads.h). It
// evaluates the conditions whenever a GPU may have changed what they depend on, and wakes a thread at the simulated time at
// which its condition begins to hold, however fast the host is. Of several threads whose waits are over at the same time, one
// goes on at a time, in the order in which their waits began, the next one when all threads wait again: what they give to the
// GPUs arrives in an order that the host does not decide.
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

/// This many threads of the program may call the driver and wait in it at the same time without memory being allocated for
/// them: how many of them overlap depends on the host, and what they leave of the program's heap must not.
inline constexpr unsigned kExpectedThreads = 64;

class HostWaits {
 public:
  /// Evaluated by any thread, one at a time; must not wait.
  using Condition = std::function<bool()>;

  struct Limits {
    Tick simulated{kForever};                                         ///< longest wait in simulated time
    std::chrono::nanoseconds host = std::chrono::nanoseconds::max();  ///< longest wait in the host's time
    bool only_while_active = false;                                   ///< ends as well when no GPU has anything to do
    bool brief = false;                                               ///< ends as well with release_brief()
  };
  static constexpr Tick kForever{~std::uint64_t{0} >> 1};

  HostWaits() { waits_.reserve(kExpectedThreads); }

  /// Blocks the calling thread until `over()` holds or a limit is reached; returns whether it holds.
  bool wait(const Condition& over, const Limits& limits);
  /// Something that conditions may depend on has changed: ends the waits whose conditions hold; false when there are none.
  /// Their threads go on with release(). From any thread.
  bool evaluate();
  /// The same, from a thread of the program that wakes or has started others: it goes on when each of them waits again, as if
  /// it had itself waited for what already holds.
  void give_way() { give_way(false); }
  /// The same, but not for longer than a moment while other threads compute: see release_brief().
  void give_way_briefly() { give_way(true); }
  /// For a thread that looks again and again for what another thread or a GPU is to do, and yields the processor between two
  /// looks. The first call at a simulated time gives way; the next one blocks until a little simulated time has passed, or
  /// until no GPU has anything to do. Neither blocks for longer than a moment while other threads compute: after that the
  /// thread gives way once more before it lets time pass, as they may have done their part since it looked.
  void yield();

  /// `called` is called when a wait has begun, by its thread, or when evaluate() has ended one.
  void on_change(std::function<void()> called) { on_change_ = std::move(called); }

  /// Simulated time at the last step of the simulation.
  Tick now() const { return Tick{now_.load(std::memory_order_acquire)}; }

  // From the simulation thread.
  struct Threads {
    unsigned blocked = 0;      ///< in a wait, and not released
    bool over = false;         ///< the waits of some of these are over
    bool waking = false;       ///< a thread has been released and has not gone on yet
    bool ends_itself = false;  ///< some of them wait for a simulated time, or only while GPUs are active
    bool brief = false;        ///< some of them end with release_brief()
    Tick next{kForever};       ///< the earliest simulated time at which a wait ends
    std::uint64_t begun = 0;   ///< begun() then
  };
  /// Simulated time is `now`: ends the waits whose conditions hold or whose limits are reached.
  Threads advance(Tick now);
  /// No GPU has anything to do: ends the waits that are to end then; false when there are none.
  bool idle();
  /// Lets the thread go on whose wait began first among those that are over.
  void release();
  /// The threads that run have computed for a moment: the first brief wait that has not been released ends, and its thread goes
  /// on beside them. That is not decided by the waiting thread and the host's clock, which goes on while the host gives the
  /// process no processor.
  void release_brief();
  /// Waits that have begun so far.
  std::uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  /// Threads in a wait that have not been released.
  std::vector<pid_t> blocked_threads();
  /// Ends all waits, present and future, as if their limits were reached: there is no simulation any more.
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
    bool holds = false;          ///< the wait's condition
    bool beside_others = false;  ///< the thread goes on while others compute
  };

  End wait_for(const Condition& over, const Limits& limits);
  End give_way(bool briefly);
  bool evaluate_locked();
  /// `lock` is free while on_change_ is called.
  void enter(Wait& wait, std::unique_lock<std::mutex>& lock);
  /// False when `longest` has passed since `begin` before the wait was released.
  static bool await_release(Wait& wait, std::unique_lock<std::mutex>& lock, HostClock::time_point begin,
                            std::chrono::nanoseconds longest);
  static void finish(Wait& wait, bool holds);
  static void release(Wait& wait);

  std::mutex mutex_;
  std::vector<Wait*> waits_;  ///< in the order in which they began
  std::function<void()> on_change_;
  std::atomic<std::uint64_t> now_{0};
  std::atomic<std::uint64_t> begun_{0};
  bool ended_ = false;
};

}  // namespace lacuna::rocm
