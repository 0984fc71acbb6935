// Lists of waiting requests, in order; each list waits for one event (the fill of a miss, a translation). All lists share one
// pool, so nothing is allocated in steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

/// A list is identified by the number of its last entry, which the owner stores; kNone: the list is empty.
template <typename Waiter>
class WaiterLists {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void append(std::uint32_t& last, const Waiter& waiter) {
    const std::uint32_t number = take_record(entries_, free_);
    entries_[number].waiter = waiter;
    entries_[number].next = last == kNone ? number : std::exchange(entries_[last].next, number);
    last = number;
  }
  /// Removes the entries of a list, first to last, and calls `use` with each. `use` may append to other lists.
  template <typename Use>
  void take_all(std::uint32_t last, const Use& use) {
    if (last == kNone) return;
    std::uint32_t taken = kNone;
    for (std::uint32_t next = entries_[last].next; taken != last;) {
      const Entry entry = entries_[next];
      free_.push_back(next);
      taken = std::exchange(next, entry.next);
      use(entry.waiter);
    }
  }
  /// Number of entries in all lists.
  std::size_t waiting() const { return entries_.size() - free_.size(); }
  void clear() {
    entries_.clear();
    free_.clear();
  }

 private:
  struct Entry {
    Waiter waiter;
    std::uint32_t next = kNone;  ///< next entry; the last entry is followed by the first
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace lacuna
