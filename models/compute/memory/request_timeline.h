// Counts of load requests by intervals of simulated time, at the times of their creation and of their response.
//
// Every compute unit has a separate timeline, so units on several host threads share none. Responses are counted when they
// become known, which may be late and out of order: DeviceRequests (models/gpu/device_requests.h) determines when an interval
// is complete, and adds the counts up.
#pragma once

#include <cstdint>
#include <map>

#include "models/common/time/units.h"

namespace lacuna {

struct RequestCounts {
  std::uint64_t started = 0;
  std::uint64_t answered = 0;
  Tick latency{};  ///< time from creation to response, summed over answered requests

  RequestCounts& operator+=(const RequestCounts& other) {
    started += other.started;
    answered += other.answered;
    latency += other.latency;
    return *this;
  }
};

/// Counts by number of the interval: interval i is [i x interval, (i + 1) x interval). Empty intervals are missing.
using RequestIntervals = std::map<std::uint64_t, RequestCounts>;

class RequestTimeline {
 public:
  /// `interval`: not 0.
  explicit RequestTimeline(Tick interval) : interval_(interval) {}

  /// Counts a request by the times of its creation and of its response.
  void add(Tick made, Tick answered) {
    ++intervals_[made.ps / interval_.ps].started;
    RequestCounts& end = intervals_[answered.ps / interval_.ps];
    ++end.answered;
    end.latency += answered - made;
  }
  /// Moves the intervals before number `end` to `sum`, adding up their counts.
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
