// The room in a DRAM controller's queue of posted writes.
//
// A write holds its entry from the cycle in which it is accepted until its column command. Those that wait for a drain have no
// such cycle yet; the others are kept here until they are past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna {

class WriteQueue {
 public:
  using Cycle = std::uint64_t;

  explicit WriteQueue(unsigned entries) : entries_(entries) { held_.reserve(std::size_t{4} * entries); }

  /// The earliest cycle at or after `at` in which an entry is free, when `waiting` entries, less than all, are held by writes
  /// without an end.
  Cycle accept(Cycle at, std::size_t waiting) const {
    return held_.size() + waiting < entries_ ? at : accept_when_free(at, waiting);
  }
  void hold(Cycle accepted, Cycle left);
  /// No later call will ask for a cycle before `horizon`.
  void retire(Cycle horizon);
  void clear() { held_.clear(); }

 private:
  struct Entry {
    Cycle accepted;
    Cycle left;
  };
  Cycle accept_when_free(Cycle at, std::size_t waiting) const;

  std::size_t entries_;
  std::vector<Entry> held_;  // by the cycle in which they leave
};

}  // namespace lacuna
