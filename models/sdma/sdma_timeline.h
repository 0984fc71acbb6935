// Local time of an SDMA engine: requests are issued up to it. It runs ahead of the kernel's time by at most a lookahead, and
// queues may be destroyed whenever the engine lets the kernel's time catch up.
#pragma once

#include <functional>

#include "models/common/time/tlm_time.h"
#include "models/common/time/units.h"
#include "models/sdma/sdma_queue.h"

namespace lacuna {

class SdmaTimeline {
 public:
  /// `retire` receives the kernel's time after each wait: no request departs before it.
  SdmaTimeline(Tick lookahead, std::function<void(Tick)> retire) : lookahead_(lookahead), retire_(std::move(retire)) {}

  Tick at() const { return at_; }
  void advance(Tick duration) { at_ += duration; }
  /// No effect when `at` has passed.
  void advance_to(Tick at) { at_ = later(at_, at); }
  void reset() { at_ = {}; }

  /// Waits when the local time is further ahead than the lookahead. False when the queue has been destroyed; likewise below.
  bool keep_up(const SdmaQueue& queue) const {
    if (at_ <= kernel_time() + lookahead_) return queue.alive;
    return wait(queue);
  }
  /// Lets the kernel's time catch up with the local time.
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
