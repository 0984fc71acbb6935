// Sequential work in parts that any idle thread may advance, one thread at a time; no thread waits for another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace lacuna {

class SharedProgress {
 public:
  /// Restarts with no part done. No thread may be working.
  void restart() { state_.store(0, std::memory_order_relaxed); }
  /// Calls `advance(part)` until the first `parts` parts (at most 255) are done. If another thread is working, requests these
  /// parts from that thread and returns immediately.
  template <typename Advance>
  void reach(unsigned parts, const Advance& advance) {
    std::uint32_t state = state_.load(std::memory_order_acquire);
    for (;;) {
      const bool at_work = (state & kAtWork) != 0;
      if (done_of(state) >= parts || (at_work && wanted_of(state) >= parts)) return;
      const std::uint32_t taken = make(done_of(state), std::max(wanted_of(state), parts)) | kAtWork;
      if (!state_.compare_exchange_weak(state, taken, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      if (at_work) return;
      state = taken;
      break;
    }
    for (unsigned done = done_of(state);;) {
      const unsigned wanted = wanted_of(state);
      for (; done < wanted; ++done) advance(done);
      // The exchange fails if another thread has requested further parts in the meantime.
      if (state_.compare_exchange_strong(state, make(done, wanted), std::memory_order_acq_rel, std::memory_order_acquire))
        return;
    }
  }

 private:
  static constexpr std::uint32_t kAtWork = 1U << 16;

  static unsigned done_of(std::uint32_t state) { return state & 0xff; }
  static unsigned wanted_of(std::uint32_t state) { return state >> 8 & 0xff; }
  static std::uint32_t make(unsigned done, unsigned wanted) { return done | wanted << 8; }

  std::atomic<std::uint32_t> state_{0};  ///< number of parts done, number of parts requested, whether a thread is working
};

}  // namespace lacuna
