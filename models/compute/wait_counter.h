// One s_waitcnt counter of a wavefront: when do at most n of its outstanding operations remain, and what delays them?
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/common/units.h"

namespace lacuna {

/// Cycles by which an operation is later than in an idle machine, by cause. For reports only; saturates.
struct OperationDelays {
  std::uint16_t tlb = 0;
  std::uint16_t mshr = 0;
  std::uint16_t queues = 0;
  std::uint16_t lds_conflict = 0;

  static constexpr std::uint16_t saturated(std::uint64_t cycles) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(cycles, 0xffff));
  }
};

/// Completion cycles of outstanding operations, ascending. In-order counters (vmcnt, GCN3 ISA manual "Data dependency
/// resolution": loads return in issue order) clamp each completion to the previous one; out-of-order ones sort it in.
class WaitCounter {
 public:
  static constexpr unsigned kCapacity = 64;

  bool full(unsigned limit) const { return size_ >= limit; }
  unsigned outstanding() const { return size_; }

  void add_in_order(Cycles done, OperationDelays delays = {}) {
    // One that has to wait for its predecessor is late for that one's reasons.
    if (size_ > 0 && done < at(size_ - 1).done) {
      slot(size_) = at(size_ - 1);
    } else {
      slot(size_) = {done, delays};
    }
    ++size_;
  }
  void add_out_of_order(Cycles done, OperationDelays delays = {}) {
    unsigned i = size_++;
    for (; i > 0 && done < at(i - 1).done; --i) slot(i) = at(i - 1);
    slot(i) = {done, delays};
  }
  /// Forgets all but the last `n` operations: whoever calls has waited for the others.
  void keep(unsigned n) {
    if (size_ <= n) return;
    // An empty one starts where the host's cache has just been.
    head_ = n == 0 ? 0 : (head_ + size_ - n) % kCapacity;
    size_ = n;
  }
  /// Forgets operations that completed at or before `now`.
  void prune(Cycles now) {
    while (size_ > 0 && at(0).done <= now) {
      head_ = (head_ + 1) % kCapacity;
      --size_;
    }
  }
  /// The earliest cycle, not before `now`, at which at most `n` operations are outstanding.
  Cycles when_at_most(unsigned n, Cycles now) const { return size_ <= n ? now : later(now, at(size_ - n - 1).done); }
  /// Delays of the operation that when_at_most(n) waits for; none when it waits for nothing.
  OperationDelays delays_at_most(unsigned n) const { return size_ <= n ? OperationDelays{} : at(size_ - n - 1).delays; }
  void clear() { size_ = 0; }

 private:
  struct Operation {
    Cycles done;
    OperationDelays delays;
  };
  const Operation& at(unsigned i) const { return operations_[(head_ + i) % kCapacity]; }
  Operation& slot(unsigned i) { return operations_[(head_ + i) % kCapacity]; }
  std::array<Operation, kCapacity> operations_{};
  unsigned head_ = 0;
  unsigned size_ = 0;
};

}  // namespace lacuna
