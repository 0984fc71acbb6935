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
  const auto live = changes_.begin() + static_cast<std::ptrdiff_t>(head_);
  auto next = std::partition_point(live, changes_.end(), [not_before](const Change& c) { return c.at <= not_before; });
  if (next == live || std::prev(next)->held < servers_) return not_before;
  while (next->held >= servers_) ++next;  // the last change leaves nothing held
  return next->at;
}

std::size_t PoolCalendar::first_from(Tick at) const {
  // Mostly near the end.
  std::size_t index = changes_.size();
  for (unsigned step = 0; step < 8; ++step, --index) {
    if (index == head_ || changes_[index - 1].at < at) return index;
  }
  const auto live = changes_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(index);
  const auto found = std::partition_point(live, end, [at](const Change& c) { return c.at < at; });
  return static_cast<std::size_t>(found - changes_.begin());
}

std::size_t PoolCalendar::change_at(Tick at) {
  const std::size_t index = first_from(at);
  if (index == changes_.size() || changes_[index].at != at) {
    changes_.insert(changes_.begin() + static_cast<std::ptrdiff_t>(index), {at, held_before(index)});
  }
  return index;
}

void PoolCalendar::merge(std::size_t index) {
  if (changes_[index].held == held_before(index)) changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(index));
}

void PoolCalendar::occupy(Tick start, Tick end) {
  if (end <= start) return;
  std::size_t first = first_from(start);
  if (first < changes_.size() && changes_[first].at == start && held_before(first) == changes_[first].held + 1) {
    // In a saturated pool a server passes from one holder to the next: the change at `start` goes, one at `end` comes.
    std::size_t last = changes_.size();
    while (last > first + 1 && changes_[last - 1].at >= end) --last;
    if (last == changes_.size() || changes_[last].at != end) {
      const std::uint64_t after = changes_[last - 1].held;
      for (std::size_t i = first + 1; i < last; ++i) {
        changes_[i - 1] = {changes_[i].at, changes_[i].held + 1};
        peak_ = std::max(peak_, changes_[i - 1].held);
      }
      changes_[last - 1] = {end, after};
      return;
    }
  }
  first = change_at(start);
  const std::size_t last = change_at(end);
  for (std::size_t i = first; i < last; ++i) peak_ = std::max(peak_, ++changes_[i].held);
  merge(last);
  merge(first);
}

void PoolCalendar::retire(Tick horizon) {
  // The last change at or before the horizon says how many are held there.
  while (head_ + 1 < changes_.size() && changes_[head_ + 1].at <= horizon) ++head_;
  if (changes() == 1 && changes_[head_].at <= horizon) ++head_;
  if (should_compact(head_, changes_.size())) {
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
    peak_ = 0;
    for (const Change& change : changes_) peak_ = std::max(peak_, change.held);
  }
}

void PoolCalendar::reset() {
  changes_.clear();
  head_ = 0;
  peak_ = 0;
}

}  // namespace lacuna
