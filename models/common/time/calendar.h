// Resource calendars, the only mechanism for contention (docs/guide/architecture.md, section Time).
//
// Each shared resource (port, bank, link, bus, ALU) is a Calendar, which books the earliest slot of length d not before t. A
// calendar fills gaps, so a request that is earlier in simulated time but later in host time still gets its slot. Finite pools
// (MSHRs, queue entries) are a PoolCalendar of n servers, whose holding time is known only afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/sorted_times.h"
#include "models/common/time/units.h"

namespace lacuna {

/// A resource with one server. Bookings are half-open intervals [start, start + duration); adjacent bookings merge, so a
/// saturated resource costs constant time and memory. Intervals that end at or before the horizon are dropped.
class Calendar {
 public:
  /// Books the earliest gap of `duration` that starts at or after `not_before`; returns its start. Duration 0 books nothing
  /// and returns the earliest free instant.
  Tick reserve(Tick not_before, Tick duration) {
    // Requests usually arrive in order: after the start of the last booking, no search is necessary.
    if (duration.ps != 0 && intervals_.size() > head_ && not_before >= intervals_.back().begin) {
      Interval& last = intervals_.back();
      busy_ += duration;
      if (not_before <= last.end) {
        const Tick start = last.end;
        last.end += duration;
        return start;
      }
      intervals_.push_back({not_before, not_before + duration});
      return not_before;
    }
    return reserve_in_gap(not_before, duration);
  }
  /// Books all free time of [begin, end).
  void block(Tick begin, Tick end);
  /// Drops bookings before `horizon`; all later calls must be for later times. The owner calls it regularly, to bound memory.
  void retire(Tick horizon);
  void reset();

  /// Total time booked since construction or reset; utilisation = busy() / elapsed time.
  Tick busy() const { return busy_; }
  /// Number of intervals, which is bounded by the time between the horizon and the latest booking (tested).
  std::size_t intervals() const { return intervals_.size() - head_; }

 private:
  struct Interval {
    Tick begin;
    Tick end;
  };
  Tick reserve_in_gap(Tick not_before, Tick duration);

  std::vector<Interval> intervals_;  // sorted, disjoint, not adjacent; [head_, size) are live
  std::size_t head_ = 0;
  Tick busy_{};
};

/// n identical servers, each held for a time that becomes known when the work is done (an MSHR until its fill returns).
/// acquire() finds the earliest time at or after `not_before` at which fewer than n servers are held; occupy() then books
/// [start, end). The holding time is unknown when a server is acquired. A request that arrives late in host time may therefore
/// take a free server although all servers are booked a little later, but acquire() never returns a time at which all n servers
/// are held.
///
/// Implementation: two sorted lists, one of the start times and one of the end times of holdings. The number of servers held at
/// time t is the number of start times minus the number of end times up to t. Requests usually arrive in time order and end in
/// the order of their starts, so both lists grow at the end, and consecutive lookups are close together.
class PoolCalendar {
 public:
  explicit PoolCalendar(unsigned servers) : servers_(servers) {}
  Tick acquire(Tick not_before) {
    const std::size_t ended = ends_by(not_before);
    if (held_ + starts_by(not_before) - ended < servers_) [[likely]]
      return not_before;
    return acquire_when_free(ended);
  }
  void occupy(Tick start, Tick end);
  void retire(Tick horizon);
  void reset();
  unsigned servers() const { return servers_; }
  /// Number of stored times. No time is stored when a server passes directly from one holder to the next. A saturated pool
  /// therefore stores at most two times per server, independent of the length of its queue.
  std::size_t changes() const { return starts_.size() + ends_.size(); }

 private:
  Tick acquire_when_free(std::size_t ended) const;
  /// Number of stored start times up to `at`.
  std::size_t starts_by(Tick at) const {
    std::size_t count = starts_.size();
    while (count > 0 && starts_[count - 1] > at) --count;
    return count;
  }
  /// Number of stored end times up to `at`. Starts at ended_, the result of the last search.
  std::size_t ends_by(Tick at) {
    std::size_t count = ended_ < ends_.size() ? ended_ : ends_.size();
    while (count < ends_.size() && ends_[count] <= at) ++count;
    while (count > 0 && ends_[count - 1] > at) --count;
    return ended_ = count;
  }

  unsigned servers_;
  SortedTimes starts_;
  SortedTimes ends_;
  std::size_t held_ = 0;   // number of dropped starts minus number of dropped ends
  std::size_t ended_ = 0;  // result of the last ends_by()
};

}  // namespace lacuna
