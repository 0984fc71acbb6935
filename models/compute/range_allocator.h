// First-fit allocation of contiguous granules: LDS of a compute unit, vector registers of a SIMD.
#pragma once

#include <optional>

#include "models/common/containers/bit_set.h"

namespace lacuna {

class RangeAllocator {
 public:
  explicit RangeAllocator(unsigned granules) : used_(granules), free_(granules) {}

  unsigned size() const { return used_.size(); }
  unsigned free() const { return free_; }
  /// Allocates the first `count` adjacent free granules; returns the first of them, or nullopt if there is no such range. Count
  /// 0 always succeeds.
  std::optional<unsigned> allocate(unsigned count) {
    if (count == 0) return 0;
    if (count > free_) return std::nullopt;
    unsigned end = 0;  // end of a run of free granules
    for (unsigned first = used_.next_missing(0); first < size(); first = used_.next_missing(end)) {
      end = used_.next(first);
      if (end - first < count) continue;
      used_.insert(first, count);
      free_ -= count;
      return first;
    }
    return std::nullopt;
  }
  void release(unsigned first, unsigned count) {
    used_.erase(first, count);
    free_ += count;
  }

 private:
  BitSet used_;
  unsigned free_;
};

}  // namespace lacuna
