// A buffer of a compute unit's vector memory transactions that gives their answers back in the order of the requests, whichever
// wavefronts they are of, one a cycle. A request enters when an entry is free and keeps it until its answer leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class ReorderBuffer {
 public:
  using Entry = std::uint32_t;

  explicit ReorderBuffer(unsigned entries) : entries_(entries) {}

  /// Without entries there is no buffer.
  bool exists() const { return !entries_.empty(); }
  /// Whether the time is known at which the next request can enter: all answers before have left that need to.
  bool can_enter() const { return entries_[next_].state == State::free; }
  /// When a request that wants to enter at `at` has an entry. can_enter() must hold.
  Tick enters(Tick at) const { return later(at, entries_[next_].left); }
  /// The entry of the request that enters.
  Entry enter() {
    const auto entry = static_cast<Entry>(next_);
    entries_[next_].state = State::waits;
    next_ = (next_ + 1) % entries_.size();
    return entry;
  }
  /// The answer to the request of an entry is there at `at`.
  void answer(Entry entry, Tick at) {
    entries_[entry].state = State::answered;
    entries_[entry].left = at;
  }
  /// Lets the oldest answer leave, if it is there: true, with its entry and the time at which it leaves. `period`: a cycle.
  bool leave(Tick period, Entry& entry, Tick& at) {
    Slot& oldest = entries_[oldest_];
    if (oldest.state != State::answered) return false;
    last_ = later(oldest.left, last_ + period);
    oldest.left = last_;
    oldest.state = State::free;
    entry = static_cast<Entry>(oldest_);
    at = last_;
    oldest_ = (oldest_ + 1) % entries_.size();
    return true;
  }

 private:
  enum class State : std::uint8_t { free, waits, answered };
  struct Slot {
    Tick left{};  ///< when its last answer left; of an answered one, when the answer was there
    State state = State::free;
  };
  std::vector<Slot> entries_;
  std::size_t next_ = 0;
  std::size_t oldest_ = 0;
  Tick last_{};
};

}  // namespace lacuna
