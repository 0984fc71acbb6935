#include "models/compute/issue/counter_waits.h"

namespace lacuna {

// The fields of SIMM16 are those of the GCN3 ISA manual, s_waitcnt; gfx9 adds bits 5:4 of vmcnt at 15:14.
void CounterWaits::wait(WavefrontSlot& slot, std::uint32_t simm16, Cycles cycle) {
  const unsigned vm = (simm16 & 0xf) | ((simm16 >> 14 & 3) << 4 & vm_limit_);
  const unsigned lgkm = simm16 >> 8 & 0xf;
  slot.waits_from = cycle;
  const auto wait = [&](WaitCounter& counter, unsigned n, StallCause cause, StallReason reason) {
    if (counter.outstanding() <= n) return;
    if (counter.known(n, cycle)) {
      end_wait(slot, counter, n, cause, cycle);
    } else {
      slot.hold(reason);
    }
  };
  slot.wait_vm = vm;
  slot.wait_lgkm = lgkm;
  if (vm != vm_limit_) wait(slot.vmcnt, vm, StallCause::vmcnt, StallReason::vmcnt);
  if (lgkm != kLgkmLimit) wait(slot.lgkmcnt, lgkm, StallCause::lgkmcnt, StallReason::lgkmcnt);
}

void CounterWaits::end_wait(WavefrontSlot& slot, WaitCounter& counter, unsigned n, StallCause cause, Cycles from) {
  const Cycles until = counter.when_at_most(n, from);
  if (until > slot.when) slot.when = until;
  if (until > slot.accounted) {
    slot.account_delays(counter.delays_at_most(n), until);
    slot.account(cause, until);
  }
  counter.keep(n);
}

// Completed operations are dropped only when the counter is full: they do not affect when a wait ends.
bool CounterWaits::full(WavefrontSlot& slot, WaitCounter& counter, unsigned limit, StallReason reason, Cycles cycle) {
  counter.prune(cycle);
  if (!counter.full(limit)) return false;
  slot.account(StallCause::unit_busy, cycle);
  slot.waits_from = cycle;
  if (counter.known(limit - 1, cycle)) {
    slot.when = counter.when_at_most(limit - 1, cycle);
    slot.account(StallCause::queue_full, slot.when);
    count_wait(slot, reason, slot.when);
  } else {
    slot.hold(reason);
  }
  slot.publish();
  return true;
}

void CounterWaits::count_wait(const WavefrontSlot& slot, StallReason reason, Cycles until) {
  if (reason != StallReason::vm_limit || until <= slot.waits_from) return;
  slot.group->work->activity.vmem_waits.counter += until.n - slot.waits_from.n;
}

void CounterWaits::operation_closed(WavefrontSlot& slot) {
  if (!slot.held()) return;
  const auto wait_over = [&](StallReason reason, WaitCounter& counter, unsigned n, StallCause cause) {
    if (!slot.held_by(reason) || !counter.known(n, slot.waits_from)) return;
    end_wait(slot, counter, n, cause, slot.waits_from);
    slot.release(reason);
  };
  const auto room = [&](StallReason reason, WaitCounter& counter, unsigned limit) {
    if (!slot.held_by(reason) || !counter.known(limit - 1, slot.waits_from)) return;
    const Cycles until = counter.when_at_most(limit - 1, slot.waits_from);
    slot.when = later(slot.when, until);
    slot.account(StallCause::queue_full, slot.when);
    count_wait(slot, reason, until);
    slot.release(reason);
  };
  wait_over(StallReason::vmcnt, slot.vmcnt, slot.wait_vm, StallCause::vmcnt);
  wait_over(StallReason::lgkmcnt, slot.lgkmcnt, slot.wait_lgkm, StallCause::lgkmcnt);
  room(StallReason::vm_limit, slot.vmcnt, vm_limit_);
  room(StallReason::lgkm_limit, slot.lgkmcnt, kLgkmLimit);
  // In the remaining cycles the wavefront waits for the fetch of its next instruction.
  if (!slot.held()) slot.account(StallCause::fetch, slot.when);
}

}  // namespace lacuna
