// One s_waitcnt counter of a wavefront: when do at most n of its outstanding operations remain?
#pragma once

#include <array>
#include <cstdint>

#include "models/common/units.h"

namespace lacuna {

/// Completion cycles of outstanding operations, ascending. In-order counters (vmcnt, GCN3 ISA manual "Data dependency
/// resolution": loads return in issue order) clamp each completion to the previous one; out-of-order ones sort it in.
class WaitCounter {
 public:
  static constexpr unsigned kCapacity = 64;

  bool full(unsigned limit) const { return size_ >= limit; }
  unsigned outstanding() const { return size_; }

  void add_in_order(Cycles done) {
    if (size_ > 0 && done < at(size_ - 1)) done = at(size_ - 1);
    slot(size_++) = done;
  }
  void add_out_of_order(Cycles done) {
    unsigned i = size_++;
    for (; i > 0 && done < at(i - 1); --i) slot(i) = at(i - 1);
    slot(i) = done;
  }
  /// Forgets operations that completed at or before `now`.
  void prune(Cycles now) {
    while (size_ > 0 && at(0) <= now) {
      head_ = (head_ + 1) % kCapacity;
      --size_;
    }
  }
  /// The earliest cycle, not before `now`, at which at most `n` operations are outstanding.
  Cycles when_at_most(unsigned n, Cycles now) const { return size_ <= n ? now : later(now, at(size_ - n - 1)); }
  void clear() { size_ = 0; }

 private:
  Cycles at(unsigned i) const { return done_[(head_ + i) % kCapacity]; }
  Cycles& slot(unsigned i) { return done_[(head_ + i) % kCapacity]; }
  std::array<Cycles, kCapacity> done_{};
  unsigned head_ = 0;
  unsigned size_ = 0;
};

}  // namespace lacuna
