// Points of time in their order, the earliest of which are taken or forgotten: ends of what is under way, servers that are
// free.
//
// Times mostly come in nearly their order, so that a new one has its place near the end. Constant time for each then, and no
// allocation in steady state.
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
  /// The i-th, from the earliest on.
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
  /// Forgets the `count` earliest.
  void drop_earliest(std::size_t count) {
    head_ += count;
    compact();
  }
  /// Puts `time` in the place of the i-th, which is no later.
  void replace(std::size_t i, Tick time) {
    const auto replaced = times_.begin() + static_cast<std::ptrdiff_t>(head_ + i);
    const auto next = times_.back() <= time ? times_.end() : std::upper_bound(replaced + 1, times_.end(), time);
    std::copy(replaced + 1, next, replaced);
    *std::prev(next) = time;
  }
  /// Forgets those up to `horizon`. Returns how many.
  std::size_t retire(Tick horizon) {
    const std::size_t before = head_;
    while (head_ < times_.size() && times_[head_] <= horizon) ++head_;
    const std::size_t forgotten = head_ - before;
    compact();
    return forgotten;
  }
  void clear() {
    times_.clear();
    head_ = 0;
  }
  /// `count` times 0.
  void assign(std::size_t count) {
    times_.assign(count, Tick{});
    head_ = 0;
  }

 private:
  static constexpr std::size_t kCompactFrom = 64;
  /// What has been dropped is moved out when it is at least half of all: constant time for each.
  void compact() {
    if (head_ != times_.size() && (head_ < kCompactFrom || 2 * head_ < times_.size())) return;
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<Tick> times_;  // from head_ on
  std::size_t head_ = 0;
};

}  // namespace lacuna
