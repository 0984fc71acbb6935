#include "models/common/calendar.h"

#include <algorithm>
#include <cstring>

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
  std::size_t next = first_from(not_before + Tick{1});
  if (held_before(next) < servers_) return not_before;
  while (held_[next] >= servers_) ++next;  // the last change leaves nothing held
  return {at_[next]};
}

std::size_t PoolCalendar::first_from(Tick at) const {
  // Holders mostly come in order: often behind all.
  std::size_t length = at_.size() - head_;
  if (length == 0 || at_.back() < at.ps) return at_.size();
  // Without branches, which the host could not predict: [first, first + length] holds the answer.
  const std::uint64_t* first = at_.data() + head_;
  while (length > 1) {
    const std::size_t half = length / 2;
    first += first[half - 1] < at.ps ? half : 0;
    length -= half;
  }
  return static_cast<std::size_t>(first - at_.data()) + (*first < at.ps ? 1 : 0);
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
  // A busy pool has a change for nearly every server: eight at a time. `to` is not behind `first`, so that what is written has
  // been read.
  using Block [[gnu::vector_size(32)]] = std::uint32_t;
  constexpr std::size_t kBlock = sizeof(Block) / sizeof(std::uint32_t);
  const std::size_t count = last - first;
  const std::uint32_t* from = held_.data() + first;
  std::uint32_t* into = held_.data() + to;
  Block peaks = Block{} + peak_;
  std::size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    Block held;
    std::memcpy(&held, from + i, sizeof held);
    held += 1;
    peaks = held > peaks ? held : peaks;
    std::memcpy(into + i, &held, sizeof held);
  }
  for (std::size_t lane = 0; lane < kBlock; ++lane) peak_ = std::max(peak_, peaks[lane]);
  for (; i < count; ++i) {
    into[i] = from[i] + 1;
    peak_ = std::max(peak_, into[i]);
  }
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
