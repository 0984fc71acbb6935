// Wavefronts of a compute unit at global wave sync: how they stop, and how they go on.

#include "models/common/gpu_registers.h"
#include "models/common/tlm_time.h"
#include "models/compute/compute_unit.h"
#include "models/compute/compute_unit_state.h"

namespace lacuna {

bool ComputeUnit::synchronise(Slot& slot, std::uint64_t pc, Cycles cycle) {
  Dispatch& dispatch = *slot.group->dispatch;
  if (!dispatch.may_sync_grid) {
    fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, "global wave sync, which the queue has not been given", cycle);
    return false;
  }
  const WavefrontTicket ticket{&dispatch, this, slot.simd->number, slot.number};
  if (listener_.wave_sync(isa::wave_sync_request(slot.wave), ticket, clock_.ticks(cycle))) return true;
  slot.state = Slot::State::at_wave_sync;
  fetch(slot, cycle);
  slot.ready_at_barrier = slot.ready;
  slot.ready = kNeverCycles;
  return false;
}

void ComputeUnit::release_from_sync(const WavefrontTicket& ticket, Tick at) {
  Simd& simd = *simds_[ticket.simd];
  Slot& slot = simd.slots[ticket.slot];
  const Cycles released = clock_.ceil(at) + (mode_ == TimingMode::functional ? Cycles{1} : parameters_.barrier_latency);
  slot.state = Slot::State::running;
  slot.ready = later(slot.ready_at_barrier, released);
  slot.account(WavefrontTime::barrier, slot.ready);
  simd.wake(slot.ready);
  const Tick now = to_tick(sc_core::sc_time_stamp());
  wake_.notify(to_sc_time(later(clock_.ticks(slot.ready), now) - now));
}

}  // namespace lacuna
