// Sorted times of which the earliest are taken or dropped, such as ends of operations in flight or times of free servers.
//
// Times are usually inserted nearly in order, so a new time belongs near the end and an insertion takes constant time. Nothing
// is allocated in steady state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class SortedTimes {
 public:
  SortedTimes() = default;
  explicit SortedTimes(std::size_t count) : times_(count) {}

  std::size_t size() const { return times_.size() - head_; }
  bool empty() const { return times_.size() == head_; }
  /// The i-th earliest time.
  Tick operator[](std::size_t i) const { return times_[head_ + i]; }
  void insert(Tick time) {
    times_.push_back(time);
    const Tick* const first = times_.data() + head_;
    Tick* place = &times_.back();
    for (; place != first && place[-1] > time; --place) *place = place[-1];
    *place = time;
  }
  Tick take_earliest() {
    const Tick earliest = times_[head_++];
    compact();
    return earliest;
  }
  /// Drops the `count` earliest times.
  void drop_earliest(std::size_t count) {
    head_ += count;
    compact();
  }
  /// Replaces the i-th earliest time by `time`, which must not be earlier.
  void replace(std::size_t i, Tick time) {
    const auto replaced = times_.begin() + static_cast<std::ptrdiff_t>(head_ + i);
    const auto next = times_.back() <= time ? times_.end() : std::upper_bound(replaced + 1, times_.end(), time);
    std::copy(replaced + 1, next, replaced);
    *std::prev(next) = time;
  }
  /// Drops times up to `horizon`. Returns their number.
  std::size_t retire(Tick horizon) {
    const std::size_t before = head_;
    while (head_ < times_.size() && times_[head_] <= horizon) ++head_;
    const std::size_t dropped = head_ - before;
    compact();
    return dropped;
  }
  void clear() {
    times_.clear();
    head_ = 0;
  }
  /// Replaces the contents by `count` times, all 0.
  void assign(std::size_t count) {
    times_.assign(count, Tick{});
    head_ = 0;
  }

 private:
  static constexpr std::size_t kCompactFrom = 64;
  /// Removes dropped times from the vector when they are at least half of it: amortised constant time.
  void compact() {
    if (head_ != times_.size() && (head_ < kCompactFrom || 2 * head_ < times_.size())) return;
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<Tick> times_;  // valid from head_ on
  std::size_t head_ = 0;     // number of dropped times at the beginning
};

}  // namespace lacuna
