// Requests of loads by intervals of simulated time, each at the times when it was made and answered.
//
// Every compute unit has one of its own, so that units on several host threads do not meet. Answers are counted as they become
// known, which is neither in order of time nor soon: DeviceRequests (models/gpu/device_requests.h) says when an interval is
// complete, and adds up.
#pragma once

#include <cstdint>
#include <map>

#include "models/common/time/units.h"

namespace lacuna {

struct RequestCounts {
  std::uint64_t started = 0;
  std::uint64_t answered = 0;
  Tick latency{};  ///< sum over those answered, from the unit's port to the answer

  RequestCounts& operator+=(const RequestCounts& other) {
    started += other.started;
    answered += other.answered;
    latency += other.latency;
    return *this;
  }
};

/// By number of the interval: interval i is [i x interval, (i + 1) x interval). Only those in which anything happens.
using RequestIntervals = std::map<std::uint64_t, RequestCounts>;

class RequestTimeline {
 public:
  /// `interval`: not 0.
  explicit RequestTimeline(Tick interval) : interval_(interval) {}

  /// A request that was made and answered at these times.
  void add(Tick made, Tick answered) {
    ++intervals_[made.ps / interval_.ps].started;
    RequestCounts& end = intervals_[answered.ps / interval_.ps];
    ++end.answered;
    end.latency += answered - made;
  }
  /// Adds the intervals before number `end` to `sum` and forgets them.
  void take(std::uint64_t end, RequestIntervals& sum) {
    const auto last = intervals_.lower_bound(end);
    for (auto i = intervals_.begin(); i != last; ++i) sum[i->first] += i->second;
    intervals_.erase(intervals_.begin(), last);
  }

 private:
  const Tick interval_;
  RequestIntervals intervals_;
};

}  // namespace lacuna
