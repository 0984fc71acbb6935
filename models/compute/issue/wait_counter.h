// One s_waitcnt counter of a wavefront: the time at which at most n of its operations are outstanding, and their delays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/common/time/units.h"

namespace lacuna {

/// Delays of an operation relative to an idle machine, in cycles by cause. For reports only; the values saturate.
struct OperationDelays {
  std::uint16_t tlb = 0;
  std::uint16_t mshr = 0;
  std::uint16_t queues = 0;
  std::uint16_t lds_conflict = 0;

  static constexpr std::uint16_t saturated(std::uint64_t cycles) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(cycles, 0xffff));
  }
};

/// Outstanding operations, each with the cycle of its completion. An operation is open while this cycle is not known. A counter
/// is used in one of two modes:
///   in order      vmcnt (GCN3 ISA manual, "Data dependency resolution": loads return in issue order). No operation completes
///                 before its predecessor.
///   out of order  lgkmcnt. Operations leave the counter in order of completion.
class WaitCounter {
 public:
  static constexpr unsigned kCapacity = 64;
  using Sequence = std::uint32_t;

  bool full(unsigned limit) const { return outstanding() >= limit; }
  unsigned outstanding() const { return size_ + open_; }

  void add_in_order(Cycles done, OperationDelays delays = {}) {
    slot(size_++) = {done, delays};
    resolve();
  }
  /// Adds an operation whose completion is not known yet. Returns its number, for close_in_order().
  Sequence open_in_order() {
    slot(size_) = {kOpen, {}};
    return first_ + size_++;
  }
  void close_in_order(Sequence operation, Cycles done, OperationDelays delays) {
    slot(operation - first_) = {done, delays};
    resolve();
  }

  void add_out_of_order(Cycles done, OperationDelays delays = {}) {
    unsigned i = size_++;
    for (; i > 0 && done < at(i - 1).done; --i) slot(i) = at(i - 1);
    slot(i) = {done, delays};
    resolved_ = size_;
  }
  void open_out_of_order() { ++open_; }
  void close_out_of_order(Cycles done, OperationDelays delays) {
    --open_;
    add_out_of_order(done, delays);
  }

  /// Whether when_at_most(n) is known. Open operations of an out-of-order counter may be the first to complete.
  bool known(unsigned n, Cycles now) const {
    if (outstanding() <= n) return true;
    const unsigned index = outstanding() - n - 1;
    return index < resolved_ && (open_ == 0 || at(index).done <= now);
  }
  /// The earliest cycle, not before `now`, at which at most `n` operations are outstanding. known(n, now) must hold.
  Cycles when_at_most(unsigned n, Cycles now) const {
    return outstanding() <= n ? now : later(now, at(outstanding() - n - 1).done);
  }
  /// Delays of the operation that when_at_most(n) waits for; zero without a wait.
  OperationDelays delays_at_most(unsigned n) const {
    return outstanding() <= n ? OperationDelays{} : at(outstanding() - n - 1).delays;
  }

  /// The latest known completion, at least `now`.
  Cycles latest_known(Cycles now) const {
    for (unsigned i = 0; i < size_; ++i) {
      if (at(i).done != kOpen) now = later(now, at(i).done);
    }
    return now;
  }

  /// Drops all but the last `n` operations: the wavefront has waited for the others.
  void keep(unsigned n) {
    if (outstanding() > n) drop(outstanding() - n);
  }
  /// Drops operations that completed at or before `now`.
  void prune(Cycles now) {
    while (resolved_ > 0 && at(0).done <= now) drop(1);
  }
  void clear() { size_ = resolved_ = open_ = 0; }

 private:
  struct Operation {
    Cycles done;
    OperationDelays delays;
  };
  static constexpr Cycles kOpen{~std::uint64_t{0}};

  const Operation& at(unsigned i) const { return operations_[(head_ + i) % kCapacity]; }
  Operation& slot(unsigned i) { return operations_[(head_ + i) % kCapacity]; }
  /// Determines the completion of closed in-order operations: an operation whose own completion would precede that of its
  /// predecessor gets the predecessor's completion and delays.
  void resolve() {
    for (; resolved_ < size_ && at(resolved_).done != kOpen; ++resolved_) {
      if (resolved_ > 0 && at(resolved_).done < at(resolved_ - 1).done) slot(resolved_) = at(resolved_ - 1);
    }
  }
  void drop(unsigned count) {
    size_ -= count;
    resolved_ -= count;
    first_ += count;
    // An empty ring restarts at its first entry, whose line is cached.
    head_ = size_ == 0 ? 0 : (head_ + count) % kCapacity;
  }

  unsigned head_ = 0;
  unsigned size_ = 0;      ///< number of operations in the ring: all except the open operations of an out-of-order counter
  unsigned resolved_ = 0;  ///< number of operations in the ring, from the first on, whose completion is known
  unsigned open_ = 0;      ///< number of open operations of an out-of-order counter, which are not in the ring
  Sequence first_ = 0;     ///< number of the oldest operation in the ring
  std::array<Operation, kCapacity> operations_{};
};

}  // namespace lacuna
