// Whether it is worth to share work between threads while other processes want the processors, too.
//
// A thread that loses its processor in the middle of a piece keeps all others waiting for milliseconds, a hundred pieces long.
// The host tells how often that happens: it counts the times at which it took the processor from a thread that was not done.
// On an idle host those are a few a second; beside a process for each processor they are hundreds.
#pragma once

#include <chrono>
#include <cstdint>

namespace lacuna {

class ThreadContention {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Threads are observed for this long while they share work; then one works alone for `kAlone`, which doubles up to
  /// `kAloneAtMost` as long as nothing gets better.
  static constexpr std::chrono::milliseconds kObserve{20};
  static constexpr std::chrono::milliseconds kAlone{100};
  static constexpr std::chrono::milliseconds kAloneAtMost{1600};
  /// Losses within `kObserve` from which one thread is faster: 200 a second.
  static constexpr std::uint64_t kLosses = 4;

  /// Whether to share the work at `now`. `losses()`: how often threads of this process have lost their processor so far
  /// (an ever growing count); asked at most once in `kObserve`.
  template <typename Losses>
  bool share(Time now, Losses&& losses) {
    if (now < change_) return sharing_;
    return change(now, losses());
  }

 private:
  bool change(Time now, std::uint64_t losses);

  bool sharing_ = true;
  bool observed_ = false;  ///< whether `losses_` is of the begin of a time of observation
  Time change_{};          ///< until then everything stays as it is
  std::uint64_t losses_ = 0;
  std::chrono::milliseconds alone_ = kAlone;
};

/// Times at which a thread of this process had to leave its processor to another before it was done (getrusage, ru_nivcsw).
std::uint64_t involuntary_switches();

}  // namespace lacuna
