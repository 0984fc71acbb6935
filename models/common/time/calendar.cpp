#include "models/common/time/calendar.h"

#include <algorithm>
#include <iterator>

namespace lacuna {
namespace {

// Dropped entries are removed from the vector only when they are at least half of it: amortised constant time per entry.
// Vectors with fewer dropped entries than this are not compacted unless all entries are dropped.
constexpr std::size_t kCompactFrom = 64;

bool should_compact(std::size_t head, std::size_t size) { return head == size || (head >= kCompactFrom && head * 2 >= size); }

}  // namespace

Tick Calendar::reserve_in_gap(Tick not_before, Tick duration) {
  const auto live = intervals_.begin() + static_cast<std::ptrdiff_t>(head_);
  // The first booking that ends after not_before; the gap before it is the first candidate.
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

void Calendar::block(Tick begin, Tick end) {
  const auto live = intervals_.begin() + static_cast<std::ptrdiff_t>(head_);
  // Merge all bookings that overlap or touch [begin, end).
  const auto first = std::partition_point(live, intervals_.end(), [&](const Interval& i) { return i.end < begin; });
  auto last = first;
  Interval whole{begin, end};
  busy_ += end - begin;
  for (; last != intervals_.end() && last->begin <= end; ++last) {
    busy_ = busy_ - (std::min(end, last->end) - later(begin, last->begin));
    whole = {std::min(whole.begin, last->begin), later(whole.end, last->end)};
  }
  if (first == last) {
    intervals_.insert(first, whole);
    return;
  }
  *first = whole;
  intervals_.erase(std::next(first), last);
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

Tick PoolCalendar::acquire_when_free(std::size_t ended) const {
  // A server can become free only at an end time; after the last end time no server is held.
  std::size_t started = starts_by(ends_[ended]);
  for (;;) {
    const Tick at = ends_[ended];
    while (ended < ends_.size() && ends_[ended] == at) ++ended;
    while (started < starts_.size() && starts_[started] <= at) ++started;
    if (held_ + started - ended < servers_) return at;
  }
}

void PoolCalendar::occupy(Tick start, Tick end) {
  if (end <= start) return;
  if (const std::size_t ended = ends_by(start); ended > 0 && ends_[ended - 1] == start) {
    // The server is handed over without a gap: the earlier booking is extended instead of adding another booking.
    ends_.replace(ended - 1, end);
    return;
  }
  starts_.insert(start);
  ends_.insert(end);
}

void PoolCalendar::retire(Tick horizon) {
  held_ += starts_.retire(horizon);
  const std::size_t dropped = ends_.retire(horizon);
  held_ -= dropped;
  ended_ -= ended_ < dropped ? ended_ : dropped;
}

void PoolCalendar::reset() {
  starts_.clear();
  ends_.clear();
  held_ = 0;
  ended_ = 0;
}

}  // namespace lacuna
