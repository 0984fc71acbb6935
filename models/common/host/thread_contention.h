// Decides whether multithreading pays off while other processes compete for the processors.
//
// A thread that loses its processor in the middle of a piece of work stalls all other threads for milliseconds, in which a
// hundred pieces could be completed. The operating system counts these involuntary context switches: a few per second on an
// idle host, hundreds if another process runs on each processor.
#pragma once

#include <chrono>
#include <cstdint>

namespace lacuna {

class ThreadContention {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Duration of an observation while threads share work. If the observation counts too many losses of processors, one thread
  /// works alone for `kAlone`; this time doubles up to `kAloneAtMost` as long as the losses continue.
  static constexpr std::chrono::milliseconds kObserve{20};
  static constexpr std::chrono::milliseconds kAlone{100};
  static constexpr std::chrono::milliseconds kAloneAtMost{1600};
  /// Minimum number of losses within `kObserve` at which a single thread is faster: 200 per second.
  static constexpr std::uint64_t kLosses = 4;

  /// Whether to share the work at `now`. `losses()` returns how often threads of this process have lost their processor so far,
  /// and is called at most once per `kObserve`.
  template <typename Losses>
  bool share(Time now, Losses&& losses) {
    if (now < change_) return sharing_;
    return change(now, losses());
  }

 private:
  bool change(Time now, std::uint64_t losses);

  bool sharing_ = true;
  bool observed_ = false;     ///< whether `losses_` is the count at the beginning of an observation
  Time change_{};             ///< time of the next decision
  std::uint64_t losses_ = 0;  ///< result of losses() at the beginning of the latest observation
  std::chrono::milliseconds alone_ = kAlone;
};

/// Number of involuntary context switches of this process (getrusage, ru_nivcsw).
std::uint64_t involuntary_switches();

}  // namespace lacuna
