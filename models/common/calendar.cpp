#include "models/common/calendar.h"

#include <algorithm>

namespace lacuna {
namespace {

// Dropped entries are moved out only when they are at least half of the vector: constant time per entry, amortised.
constexpr std::size_t kCompactFrom = 64;

bool should_compact(std::size_t head, std::size_t size) { return head == size || (head >= kCompactFrom && head * 2 >= size); }

void insert_sorted(std::vector<Tick>& ticks, std::size_t head, Tick t) {
  if (ticks.size() == head || ticks.back() <= t) {
    ticks.push_back(t);
    return;
  }
  ticks.insert(std::upper_bound(ticks.begin() + static_cast<std::ptrdiff_t>(head), ticks.end(), t), t);
}

}  // namespace

Tick Calendar::reserve_in_gap(Tick not_before, Tick duration) {
  const auto live = intervals_.begin() + static_cast<std::ptrdiff_t>(head_);
  // The first booking that is not wholly over at not_before; the gap before it is the first candidate.
  auto next = std::partition_point(live, intervals_.end(), [&](const Interval& i) { return i.end <= not_before; });
  Tick start = not_before;
  for (; next != intervals_.end(); ++next) {
    if (start < next->begin && duration <= next->begin - start) break;
    start = later(start, next->end);
  }
  if (duration.ps == 0) return start;

  busy_ += duration;
  const Tick end = start + duration;
  const bool joins_previous = next != live && std::prev(next)->end == start;
  const bool joins_next = next != intervals_.end() && next->begin == end;
  if (joins_previous && joins_next) {
    std::prev(next)->end = next->end;
    intervals_.erase(next);
  } else if (joins_previous) {
    std::prev(next)->end = end;
  } else if (joins_next) {
    next->begin = start;
  } else {
    intervals_.insert(next, {start, end});
  }
  return start;
}

void Calendar::retire(Tick horizon) {
  while (head_ < intervals_.size() && intervals_[head_].end <= horizon) ++head_;
  if (should_compact(head_, intervals_.size())) {
    intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void Calendar::reset() {
  intervals_.clear();
  head_ = 0;
  busy_ = {};
}

PoolCalendar::PoolCalendar(unsigned servers) : servers_(servers) {}

Tick PoolCalendar::acquire_when_free(Tick not_before) const {
  const auto live_begin = begins_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto live_end = ends_.begin() + static_cast<std::ptrdiff_t>(head_);
  auto begun = std::upper_bound(live_begin, begins_.end(), not_before);
  auto ended = std::upper_bound(live_end, ends_.end(), not_before);
  Tick at = not_before;
  while ((begun - live_begin) - (ended - live_end) >= static_cast<std::ptrdiff_t>(servers_)) {
    at = *ended;
    while (ended != ends_.end() && *ended <= at) ++ended;
    while (begun != begins_.end() && *begun <= at) ++begun;
  }
  return at;
}

void PoolCalendar::occupy(Tick start, Tick end) {
  if (end <= start) return;
  insert_sorted(begins_, head_, start);
  insert_sorted(ends_, head_, end);
}

void PoolCalendar::retire(Tick horizon) {
  // As many begins as ends lie before the horizon or more, so dropping the smallest of each leaves later counts as they are.
  while (head_ < ends_.size() && ends_[head_] <= horizon) ++head_;
  if (should_compact(head_, ends_.size())) {
    begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(head_));
    ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void PoolCalendar::reset() {
  begins_.clear();
  ends_.clear();
  head_ = 0;
}

}  // namespace lacuna
