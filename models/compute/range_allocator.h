// First-fit allocation of contiguous granules: LDS of a compute unit, vector registers of a SIMD.
#pragma once

#include <optional>
#include <vector>

namespace lacuna {

class RangeAllocator {
 public:
  explicit RangeAllocator(unsigned granules) : used_(granules, false), free_(granules) {}

  unsigned size() const { return static_cast<unsigned>(used_.size()); }
  unsigned free() const { return free_; }
  /// First granule of `count` adjacent free ones, which are then taken; count 0 always succeeds.
  std::optional<unsigned> allocate(unsigned count) {
    const auto first = find(count);
    if (first) set(*first, count, true);
    return first;
  }
  void release(unsigned first, unsigned count) { set(first, count, false); }

 private:
  std::optional<unsigned> find(unsigned count) const {
    if (count == 0) return 0;
    if (count > free_) return std::nullopt;
    unsigned run = 0;
    for (unsigned i = 0; i < size(); ++i) {
      run = used_[i] ? 0 : run + 1;
      if (run == count) return i + 1 - count;
    }
    return std::nullopt;
  }
  void set(unsigned first, unsigned count, bool used) {
    for (unsigned i = first; i < first + count; ++i) used_[i] = used;
    free_ = used ? free_ - count : free_ + count;
  }
  std::vector<bool> used_;
  unsigned free_;
};

}  // namespace lacuna
