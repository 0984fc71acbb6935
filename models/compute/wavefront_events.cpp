#include "models/compute/wavefront_events.h"

#include "include/lacuna/abi/gpu_registers.h"
#include "models/isa/scalar/gpr_index.h"

namespace lacuna {
namespace {

constexpr std::uint32_t kMessageInterrupt = 1;

}  // namespace

WavefrontEvents::WavefrontEvents(const ComputeUnitParameters& parameters, const ComputeUnitContext& context,
                                 InstructionFetch& fetch, WorkgroupLifecycle& workgroups, UnitReports& reports,
                                 FaultReports& faults, WaveSyncUnit& unit)
    : timed_(context.timed()),
      clock_(context.clock),
      wait_state_cycles_(parameters.wait_state_cycles),
      sync_latency_(timed_ ? parameters.barrier_latency : Cycles{1}),
      fetch_(fetch),
      workgroups_(workgroups),
      reports_(reports),
      faults_(faults),
      unit_(unit) {}

bool WavefrontEvents::handle(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  const isa::Event event = wave.event;
  const std::uint64_t pc = instruction.end - instruction.size;
  wave.event = isa::Event::none;
  if (event == isa::Event::end_program) {
    workgroups_.end_wavefront(slot, cycle);
    return false;
  }
  slot.account(StallCause::dependency, slot.when);
  switch (event) {
    case isa::Event::none:
    case isa::Event::end_program:
    case isa::Event::wait_count:  // the issue loop handles s_waitcnt; in functional mode all operations are complete
      return true;
    case isa::Event::barrier:
      workgroups_.arrive_at_barrier(slot, cycle);
      return false;
    case isa::Event::sleep:
      slot.when = later(slot.when, cycle + Cycles{wave.event_value});
      slot.account(StallCause::sleep, slot.when);
      return true;
    case isa::Event::wait_states:
      slot.when = slot.when + Cycles{wave.event_value * wait_state_cycles_.n};
      slot.account(StallCause::dependency, slot.when);
      return true;
    case isa::Event::message:
      send_message(slot, cycle);
      if ((wave.event_value & isa::kMessageThenHalt) == 0) return true;
      faults_.fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sendmsghalt)", cycle);
      return false;
    case isa::Event::cache_invalidate:
      return invalidate_caches(slot, instruction, cycle);
    case isa::Event::memory_fault:
      faults_.memory_fault(slot, instruction, pc, cycle);
      return false;
    case isa::Event::fine_grained_float_atomic:
      faults_.warn_of_fine_grained_atomic(slot, pc, cycle);
      return true;
    case isa::Event::halt:
      faults_.fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sethalt 1)", cycle);
      return false;
    case isa::Event::trap:
      if (wave.event_value == isa::kDebugTrap) return true;
      faults_.trap(slot, pc, cycle);
      return false;
    case isa::Event::wave_sync:
      return synchronise(slot, pc, cycle);
    case isa::Event::illegal_instruction:
      faults_.illegal_instruction(slot, instruction, pc, cycle);
      return false;
    case isa::Event::arithmetic_exception:
      faults_.fault(slot, LACUNA_FAULT_TRAP, 0, pc, "arithmetic exception", cycle);
      return false;
  }
  return true;
}

void WavefrontEvents::send_message(const WavefrontSlot& slot, Cycles cycle) {
  if ((slot.wave.event_value & 0xf) != kMessageInterrupt) return;
  reports_.message(*slot.group->dispatch, slot.wave.sgpr[isa::kM0], clock_.ticks(cycle));
}

bool WavefrontEvents::synchronise(WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  if (!slot.group->dispatch->may_sync_grid) {
    faults_.fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, "global wave sync, which the queue has not been given", cycle);
    return false;
  }
  // The wavefront is always held first: the listener may release it within the call.
  slot.hold(StallReason::sync);
  fetch_.fetch(slot, cycle);
  reports_.wave_sync(slot, unit_, clock_.ticks(cycle));
  return false;
}

void WavefrontEvents::release_from_sync(WavefrontSlot& slot, Tick at) {
  slot.when = later(slot.when, clock_.ceil(at) + sync_latency_);
  slot.account(StallCause::barrier, slot.when);
  slot.release(StallReason::sync);
}

// Invalidating the instruction cache holds the wavefront: stores to code take effect only at the end of the window.
bool WavefrontEvents::invalidate_caches(WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle) {
  const bool vector = instruction.unit == isa::Unit::vmem;
  const bool scalar = instruction.unit == isa::Unit::smem;
  const bool code = !vector && !scalar;
  if (!timed_ && (!code || reports_.immediate())) {
    if (code) fetch_.code().revalidate();
    return true;
  }
  if (CacheMaintenance* const cache = vector ? l1_vector_ : scalar ? l1_scalar_ : l1_instruction_) {
    const Cycles done = clock_.ceil(cache->invalidate(clock_.ticks(cycle)));
    if (vector) {
      slot.vmcnt.add_in_order(done);
    } else {
      slot.when = later(slot.when, done);
    }
  }
  if (!code) return true;
  slot.hold(StallReason::sync);
  slot.publish();
  reports_.code_changed(slot, clock_.ticks(cycle));
  return false;
}

}  // namespace lacuna
