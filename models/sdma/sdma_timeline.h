// Local time of an SDMA engine, up to which requests are issued. Local time is ahead of SystemC time by at most a lookahead.
// Queues may be destroyed whenever the engine waits for SystemC time.
#pragma once

#include <functional>

#include "models/common/time/tlm_time.h"
#include "models/common/time/units.h"
#include "models/sdma/sdma_queue.h"

namespace lacuna {

class SdmaTimeline {
 public:
  /// `retire` is called with the SystemC time after each wait: no later request departs before that time.
  SdmaTimeline(Tick lookahead, std::function<void(Tick)> retire) : lookahead_(lookahead), retire_(std::move(retire)) {}

  Tick at() const { return at_; }
  void advance(Tick duration) { at_ += duration; }
  /// Advances to `at`; no effect if `at` has passed.
  void advance_to(Tick at) { at_ = later(at_, at); }
  void reset() { at_ = {}; }

  /// Waits if the local time is ahead by more than the lookahead. Returns false if the queue has been destroyed.
  bool keep_up(const SdmaQueue& queue) const {
    if (at_ <= kernel_time() + lookahead_) return queue.alive;
    return wait(queue);
  }
  /// Waits until SystemC time reaches the local time. Returns false if the queue has been destroyed.
  bool wait(const SdmaQueue& queue) const {
    if (at_ > kernel_time()) wait_for_time(at_);
    retire_(kernel_time());
    return queue.alive;
  }

 private:
  const Tick lookahead_;
  const std::function<void(Tick)> retire_;
  Tick at_{};
};

}  // namespace lacuna
