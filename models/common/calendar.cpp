#include "models/common/calendar.h"

#include <algorithm>

namespace lacuna {
namespace {

// Dropped entries are moved out only when they are at least half of the vector: constant time per entry, amortised.
constexpr std::size_t kCompactFrom = 64;

bool should_compact(std::size_t head, std::size_t size) { return head == size || (head >= kCompactFrom && head * 2 >= size); }

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
  const auto live = times_.begin() + static_cast<std::ptrdiff_t>(head_);
  auto next = static_cast<std::size_t>(std::upper_bound(live, times_.end(), not_before) - times_.begin());
  if (next == head_ || held_[next - 1] < servers_) return not_before;
  while (held_[next] >= servers_) ++next;  // the last change leaves nothing held
  return times_[next];
}

std::size_t PoolCalendar::change_at(Tick at) {
  std::size_t index = times_.size();
  while (index > head_ && times_[index - 1] > at) --index;  // mostly near the end
  if (index > head_ && times_[index - 1] == at) return index - 1;
  const std::uint32_t before = index > head_ ? held_[index - 1] : 0;
  times_.insert(times_.begin() + static_cast<std::ptrdiff_t>(index), at);
  held_.insert(held_.begin() + static_cast<std::ptrdiff_t>(index), before);
  return index;
}

void PoolCalendar::merge(std::size_t index) {
  const std::uint32_t before = index > head_ ? held_[index - 1] : 0;
  if (held_[index] != before) return;
  times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(index));
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
}

void PoolCalendar::occupy(Tick start, Tick end) {
  if (end <= start) return;
  const std::size_t first = change_at(start);
  const std::size_t last = change_at(end);
  for (std::size_t i = first; i < last; ++i) ++held_[i];
  merge(last);
  merge(first);
}

void PoolCalendar::retire(Tick horizon) {
  // The last change at or before the horizon says how many are held there.
  while (head_ + 1 < times_.size() && times_[head_ + 1] <= horizon) ++head_;
  if (times_.size() - head_ == 1 && times_[head_] <= horizon) ++head_;
  if (should_compact(head_, times_.size())) {
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(head_));
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void PoolCalendar::reset() {
  times_.clear();
  held_.clear();
  head_ = 0;
}

}  // namespace lacuna
