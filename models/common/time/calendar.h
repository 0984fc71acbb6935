// Resource calendars: the one mechanism for contention (docs/architecture.md, section Time).
//
// Each shared thing (port, bank, link, bus, ALU) is a Calendar: ask for the earliest slot of length d not before t and get it
// booked. A calendar fills gaps, so a request that arrives earlier in simulated time but later in host time still gets its
// place. Finite pools (MSHRs, queue entries) are a PoolCalendar of n servers, whose holding time is known only afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/sorted_times.h"
#include "models/common/time/units.h"

namespace lacuna {

/// One server. Bookings are half-open intervals [start, start + duration); adjacent ones merge, so a saturated resource costs
/// constant time and memory. Intervals that end at or before the horizon are dropped.
class Calendar {
 public:
  /// Books the earliest gap of `duration` that starts at or after `not_before`; returns its start. Duration 0 books nothing
  /// and returns the earliest free instant.
  Tick reserve(Tick not_before, Tick duration) {
    // Requests mostly arrive in order: behind the start of the last booking there is nothing to search.
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
  /// Books what is free of [begin, end).
  void block(Tick begin, Tick end);
  /// No later call will ask for a time before `horizon` (the kernel's current time). Called by reserve's owner once in a while.
  void retire(Tick horizon);
  void reset();

  /// Total time booked since construction or reset: utilisation = busy() / elapsed.
  Tick busy() const { return busy_; }
  /// Intervals held: bounded by the spread of requests between horizon and the latest booking (tested).
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

/// n identical servers held for a time that becomes known when the work is done (an MSHR until its fill returns).
/// acquire() finds the earliest time at or after `not_before` when fewer than n are held; occupy() then books [start, end).
/// The holding time being unknown when a server is acquired, a request that arrives late in host time may take a server at an
/// instant when one is free although all are promised to others a little later; it is never told a time when all n are held.
///
/// Held as two sorted lists, the times at which holdings start and those at which they end: as many are held at t as have
/// started by then and not ended. Requests mostly come in the order of their times and ends in the order of starts, so that
/// both lists grow at their ends and the place of the last question is near that of the next.
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
  /// Times that are remembered. A server that passes from one holder to the next counts for nothing in between, so a saturated
  /// pool costs no more than two a server, however long the queue before it is.
  std::size_t changes() const { return starts_.size() + ends_.size(); }

 private:
  Tick acquire_when_free(std::size_t ended) const;
  /// Holdings that start by `at`, of those remembered.
  std::size_t starts_by(Tick at) const {
    std::size_t count = starts_.size();
    while (count > 0 && starts_[count - 1] > at) --count;
    return count;
  }
  /// Likewise those that end by then; `ended_` is where the last search ended.
  std::size_t ends_by(Tick at) {
    std::size_t count = ended_ < ends_.size() ? ended_ : ends_.size();
    while (count < ends_.size() && ends_[count] <= at) ++count;
    while (count > 0 && ends_[count - 1] > at) --count;
    return ended_ = count;
  }

  unsigned servers_;
  SortedTimes starts_;
  SortedTimes ends_;
  std::size_t held_ = 0;  // starts less ends that are forgotten
  std::size_t ended_ = 0;
};

}  // namespace lacuna
