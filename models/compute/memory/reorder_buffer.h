// Reorder buffer of a compute unit's vector memory transactions: returns responses in the order of the requests of all
// wavefronts, one per cycle. A request occupies an entry until its response departs.
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

  /// Whether the buffer has entries. Without entries, responses are not reordered.
  bool exists() const { return !entries_.empty(); }
  /// Whether the time at which the next request can enter is known, because the previous response in its entry has departed.
  bool can_enter() const { return entries_[next_].state == State::free; }
  /// Time at which a request that arrives at `at` gets an entry. Requires can_enter().
  Tick enters(Tick at) const { return later(at, entries_[next_].left); }
  /// Allocates the entry of a request.
  Entry enter() {
    const auto entry = static_cast<Entry>(next_);
    entries_[next_].state = State::waits;
    next_ = (next_ + 1) % entries_.size();
    return entry;
  }
  /// Records that the response of an entry arrives at `at`.
  void answer(Entry entry, Tick at) {
    entries_[entry].state = State::answered;
    entries_[entry].left = at;
  }
  /// Removes the oldest response if it has arrived: returns true, with its entry and the time of its departure. `period`: one
  /// cycle.
  bool depart(Tick period, Entry& entry, Tick& at) {
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
    Tick left{};  ///< departure of the entry's previous response; in state `answered`, arrival of the response
    State state = State::free;
  };
  std::vector<Slot> entries_;
  std::size_t next_ = 0;
  std::size_t oldest_ = 0;
  Tick last_{};
};

}  // namespace lacuna
