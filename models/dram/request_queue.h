// A read or write queue of a DRAM controller: the number of occupied entries, and the requests that have not entered yet, in
// order of arrival. A request enters when it has arrived and the queue has room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lacuna {

class RequestQueue {
 public:
  using Cycle = std::uint64_t;
  using Index = std::uint32_t;
  static constexpr Cycle kNever = ~Cycle{0};

  explicit RequestQueue(std::size_t room) : room_(room) {}

  std::size_t room() const { return room_; }
  /// Number of occupied entries.
  std::size_t held() const { return held_; }
  /// Cycle in which the next request enters, or kNever.
  Cycle next() const { return next_; }
  /// Adds a request that arrives at `at`.
  void insert(Index request, Cycle at) {
    if (end_ - begin_ > mask_) [[unlikely]]
      grow();
    std::size_t place = end_++;
    for (; place != begin_ && entry(place - 1).at > at; --place) entry(place) = entry(place - 1);
    entry(place) = {at, request};
    if (place == begin_ && held_ < room_) next_ = at;
  }
  /// The request that enters at next().
  Index first() const { return entry(begin_).request; }
  /// Lets the request first() enter the queue, and returns it.
  Index enter() {
    const Index request = entry(begin_++).request;
    ++held_;
    expect();
    return request;
  }
  /// Removes a request in cycle `now`: its entry can be used in the next cycle.
  void depart(Cycle now) {
    if (held_-- == room_ && begin_ != end_) next_ = std::max(entry(begin_).at, now + 1);
  }
  /// Whether the queue has room for `count` requests in addition to all that have been inserted.
  bool has_room(std::size_t count) const { return held_ + (end_ - begin_) + count <= room_; }

  void reset() { *this = RequestQueue(room_); }

 private:
  struct Entry {
    Cycle at;
    Index request;
  };
  Entry& entry(std::size_t place) { return ring_[place & mask_]; }
  const Entry& entry(std::size_t place) const { return ring_[place & mask_]; }
  void expect() { next_ = held_ < room_ && begin_ != end_ ? entry(begin_).at : kNever; }
  void grow();

  static constexpr std::size_t kFirstEntries = 64;

  std::size_t room_;
  std::size_t held_ = 0;
  Cycle next_ = kNever;
  std::size_t begin_ = 0;  // position of the first request; positions modulo the ring's size are indices of ring_
  std::size_t end_ = 0;    // position after the last request
  std::size_t mask_ = kFirstEntries - 1;
  std::vector<Entry> ring_ = std::vector<Entry>(kFirstEntries);  // ring buffer, whose size is a power of two
};

}  // namespace lacuna
