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

void Calendar::block(Tick begin, Tick end) {
  const auto live = intervals_.begin() + static_cast<std::ptrdiff_t>(head_);
  // Those that overlap or touch it become one with it.
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

PoolCalendar::PoolCalendar(unsigned servers) : servers_(servers) {}

Tick PoolCalendar::acquire_when_free(Tick not_before) const {
  const auto live = at_.begin() + static_cast<std::ptrdiff_t>(head_);
  auto next = static_cast<std::size_t>(std::upper_bound(live, at_.end(), not_before.ps) - at_.begin());
  if (held_before(next) < servers_) return not_before;
  while (held_[next] >= servers_) ++next;  // the last change leaves nothing held
  return {at_[next]};
}

std::size_t PoolCalendar::first_from(Tick at) const {
  // Mostly near the end.
  std::size_t index = at_.size();
  for (unsigned step = 0; step < 8; ++step, --index) {
    if (index == head_ || at_[index - 1] < at.ps) return index;
  }
  const auto live = at_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto end = at_.begin() + static_cast<std::ptrdiff_t>(index);
  return static_cast<std::size_t>(std::lower_bound(live, end, at.ps) - at_.begin());
}

std::size_t PoolCalendar::change_at(Tick at) {
  const std::size_t index = first_from(at);
  if (index == at_.size() || at_[index] != at.ps) {
    held_.insert(held_.begin() + static_cast<std::ptrdiff_t>(index), held_before(index));
    at_.insert(at_.begin() + static_cast<std::ptrdiff_t>(index), at.ps);
  }
  return index;
}

void PoolCalendar::merge(std::size_t index) {
  if (held_[index] != held_before(index)) return;
  at_.erase(at_.begin() + static_cast<std::ptrdiff_t>(index));
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
}

void PoolCalendar::hold_more(std::size_t first, std::size_t last, std::size_t to) {
  std::uint32_t peak = peak_;
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t held = held_[i] + 1;
    held_[to + (i - first)] = held;
    peak = std::max(peak, held);
  }
  peak_ = peak;
}

void PoolCalendar::occupy(Tick start, Tick end) {
  if (end <= start) return;
  std::size_t first = first_from(start);
  if (first < at_.size() && at_[first] == start.ps && held_before(first) == held_[first] + 1) {
    // In a saturated pool a server passes from one holder to the next: the change at `start` goes, one at `end` comes.
    const std::size_t last = first_from(end);
    if (last == at_.size() || at_[last] != end.ps) {
      const std::uint32_t after = held_[last - 1];
      std::copy(at_.begin() + static_cast<std::ptrdiff_t>(first) + 1, at_.begin() + static_cast<std::ptrdiff_t>(last),
                at_.begin() + static_cast<std::ptrdiff_t>(first));
      at_[last - 1] = end.ps;
      hold_more(first + 1, last, first);
      held_[last - 1] = after;
      return;
    }
  }
  first = change_at(start);
  const std::size_t last = change_at(end);
  hold_more(first, last, first);
  merge(last);
  merge(first);
}

void PoolCalendar::retire(Tick horizon) {
  // The last change at or before the horizon says how many are held there.
  while (head_ + 1 < at_.size() && at_[head_ + 1] <= horizon.ps) ++head_;
  if (changes() == 1 && at_[head_] <= horizon.ps) ++head_;
  if (should_compact(head_, at_.size())) {
    at_.erase(at_.begin(), at_.begin() + static_cast<std::ptrdiff_t>(head_));
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
    peak_ = 0;
    for (const std::uint32_t held : held_) peak_ = std::max(peak_, held);
  }
}

void PoolCalendar::reset() {
  at_.clear();
  held_.clear();
  head_ = 0;
  peak_ = 0;
}

}  // namespace lacuna
