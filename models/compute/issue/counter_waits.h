// Waits for a wavefront's counters: at s_waitcnt, and at a memory instruction when a counter is at its limit.
//
// A wait whose end is known delays WavefrontSlot::when. Otherwise the wavefront is held, with StallReason::vmcnt or lgkmcnt at
// s_waitcnt, vm_limit or lgkm_limit at a limit, until the completion time of the operation that determines the end is known.
//
// expcnt is always satisfied: stores read their data when they issue.
#pragma once

#include <cstdint>

#include "models/compute/wavefront_pool.h"
#include "models/isa/target.h"

namespace lacuna {

class CounterWaits {
 public:
  static constexpr unsigned kLgkmLimit = 15;  ///< largest value of lgkmcnt, which has 4 bits on both targets

  explicit CounterWaits(isa::Target target) : vm_limit_((1u << isa::traits(target).vmcnt_bits) - 1) {}

  /// Largest value of vmcnt, which in s_waitcnt means no wait.
  unsigned vm_limit() const { return vm_limit_; }
  /// Handles an s_waitcnt that issues in `cycle`. `simm16`: the instruction's operand SIMM16.
  void wait(WavefrontSlot& slot, std::uint32_t simm16, Cycles cycle);
  /// Whether a counter of the wavefront's next instruction, which accesses memory or LDS, is at its limit. If so, the slot has
  /// been delayed or held, and published.
  bool full(WavefrontSlot& slot, Cycles cycle) {
    const bool vmem = slot.next->unit == isa::Unit::vmem;
    const bool lgkm = !vmem || slot.next->format == isa::Format::flat;
    return (vmem && slot.vmcnt.full(vm_limit_) && full(slot, slot.vmcnt, vm_limit_, StallReason::vm_limit, cycle)) ||
           (lgkm && slot.lgkmcnt.full(kLgkmLimit) && full(slot, slot.lgkmcnt, kLgkmLimit, StallReason::lgkm_limit, cycle));
  }
  /// Called when the completion time of an outstanding operation of the wavefront has become known: ends the waits whose end is
  /// known now.
  void operation_closed(WavefrontSlot& slot);

 private:
  bool full(WavefrontSlot& slot, WaitCounter& counter, unsigned limit, StallReason reason, Cycles cycle);
  /// Counts the cycles that a vector memory instruction has waited for its counter.
  static void count_wait(const WavefrontSlot& slot, StallReason reason, Cycles until);
  static void end_wait(WavefrontSlot& slot, WaitCounter& counter, unsigned n, StallCause cause, Cycles from);

  const unsigned vm_limit_;
};

}  // namespace lacuna
