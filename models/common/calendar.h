// Resource calendars: the one mechanism for contention (docs/architecture.md, section Time).
//
// Each shared thing (port, bank, link, bus, ALU) is a Calendar: ask for the earliest slot of length d not before t and get it
// booked. A calendar fills gaps, so a request that arrives earlier in simulated time but later in host time still gets its
// place. Finite pools (MSHRs, queue entries) are a PoolCalendar of n servers, whose holding time is known only afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/units.h"

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
class PoolCalendar {
 public:
  explicit PoolCalendar(unsigned servers);
  Tick acquire(Tick not_before) const {
    // Mostly not all have ever been held at once; and at or after the last change nothing is held.
    return peak_ < servers_ || at_.size() == head_ || not_before.ps >= at_.back() ? not_before : acquire_when_free(not_before);
  }
  void occupy(Tick start, Tick end);
  void retire(Tick horizon);
  void reset();
  unsigned servers() const { return servers_; }
  /// Changes of the number held that are remembered. A server that passes from one holder to the next changes nothing, so a
  /// saturated pool costs no more than about one change per server, however long the queue before it is.
  std::size_t changes() const { return at_.size() - head_; }

 private:
  Tick acquire_when_free(Tick not_before) const;
  std::uint32_t held_before(std::size_t index) const { return index > head_ ? held_[index - 1] : 0; }
  /// Index of the first change at or after `at`.
  std::size_t first_from(Tick at) const;
  /// Index of a change at exactly `at`, made when there is none.
  std::size_t change_at(Tick at);
  void merge(std::size_t index);
  /// One more is held from change `first` to `last`; the numbers go to `to`.
  void hold_more(std::size_t first, std::size_t last, std::size_t to);

  unsigned servers_;
  // The number held as a step function of time: 0 before the first change and after the last.
  // Each change's time (sorted, ps) and the number held from there to the next; [head_, size) are live.
  std::vector<std::uint64_t> at_;
  std::vector<std::uint32_t> held_;
  std::size_t head_ = 0;
  std::uint32_t peak_ = 0;  // no live change holds more
};

}  // namespace lacuna
