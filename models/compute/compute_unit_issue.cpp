// The issue loop of a compute unit: which wavefront issues in which cycle, how long its instruction keeps what, and where the
// wavefront's time goes.

#include <fmt/format.h>

#include <bit>

#include "models/common/gpu_registers.h"
#include "models/compute/compute_unit.h"
#include "models/compute/compute_unit_state.h"
#include "models/isa/gpr_index.h"
#include "models/isa/register_use.h"

namespace lacuna {

namespace {

/// The first cycle at or after `from` in which SIMD `simd` of `simds`, a power of two, is served.
Cycles next_turn(Cycles from, unsigned simd, unsigned simds) { return {from.n + ((simd - from.n) & (simds - 1))}; }

constexpr unsigned bit(isa::Unit unit) { return 1u << static_cast<unsigned>(unit); }

bool counts_lanes(isa::Unit unit) { return unit == isa::Unit::valu || unit == isa::Unit::vmem || unit == isa::Unit::lds; }

}  // namespace

void ComputeUnit::run_timed(Cycles now, Cycles limit) {
  if (parameters_.simd_policy == SimdPolicy::in_turn) {
    run_in_turn(now, limit);
  } else {
    run_last_served(now, limit);
  }
}

// A SIMD whose wavefronts wait for its vector unit keeps the others from being served.
void ComputeUnit::run_last_served(Cycles now, Cycles limit) {
  const auto simds = static_cast<unsigned>(simds_.size());
  for (Cycles cycle = now;;) {
    unsigned chosen = last_served_;
    for (unsigned i = 1; i < simds; ++i) {
      const unsigned number = (last_served_ + i) % simds;
      if (simds_[number]->claims(cycle) < simds_[chosen]->claims(cycle)) chosen = number;
    }
    const Cycles at = later(cycle, simds_[chosen]->earliest);
    if (at >= limit) return;
    last_served_ = chosen;
    serve(*simds_[chosen], at);
    cycle = at + Cycles{1};
  }
}

void ComputeUnit::run_in_turn(Cycles now, Cycles limit) {
  const unsigned simds = parameters_.simds;
  for (Cycles cycle = now;;) {
    Cycles best = limit;
    Simd* chosen = nullptr;
    for (const auto& simd : simds_) {
      if (simd->earliest >= best) continue;
      const Cycles turn = next_turn(later(cycle, simd->earliest), simd->number, simds);
      if (turn < best) {
        best = turn;
        chosen = simd.get();
      }
    }
    if (chosen == nullptr) return;
    serve(*chosen, best);
    cycle = best + Cycles{1};
  }
}

// Wavefronts one after the other, each until it waits or the quantum is over: the fastest way to the same results.
void ComputeUnit::run_functional(Cycles now, Cycles limit) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& simd : simds_) {
      for (unsigned i = 0; i < simd->issue.resident;) {
        const unsigned number = simd->issue.by_age[i];
        Slot& slot = simd->slots[number];
        Cycles cycle = later(now, slot.ready);
        while (cycle < limit) {
          issue<false>(*simd, slot, cycle);
          progress = true;
          cycle = later(cycle + Cycles{1}, slot.ready);
        }
        if (i < simd->issue.resident && simd->issue.by_age[i] == number) ++i;
      }
    }
  }
  for (const auto& simd : simds_) simd->earliest = simd->issue.earliest();
}

// One cycle of one SIMD: each unit takes at most one instruction, each wavefront gives at most one, in the policy's order.
void ComputeUnit::serve(Simd& simd, Cycles cycle) {
  IssueState& state = simd.issue;
  unsigned used = 0;
  unsigned first = kNobody;
  unsigned ready = state.ready_at(cycle);
  const auto offer = [&](unsigned number) {
    if ((ready >> number & 1) == 0) return;
    ready &= ~(1U << number);
    // A fault may have ended all wavefronts meanwhile.
    if (state.ready[number] > cycle || !offer_cycle(simd, number, cycle, used)) return;
    if (first == kNobody) first = number;
  };
  switch (parameters_.issue_policy) {
    case IssuePolicy::round_robin:
      for (unsigned i = 1; i <= IssueState::kMaxSlots && ready != 0; ++i) offer((state.last + i) % IssueState::kMaxSlots);
      break;
    case IssuePolicy::greedy:
      offer(state.last);
      [[fallthrough]];
    case IssuePolicy::oldest: {
      // Wavefronts that end leave the list while it is walked.
      const auto order = state.by_age;
      for (unsigned i = 0; ready != 0; ++i) offer(order[i]);
      break;
    }
  }
  if (first != kNobody) state.last = static_cast<std::uint8_t>(first);
  // A wavefront that lost this cycle's port is ready in the past: it tries again at the SIMD's next turn.
  const Cycles earliest = state.earliest();
  simd.earliest = earliest == kNeverCycles ? earliest : later(earliest, cycle + Cycles{1});
}

// Issues the instruction of a wavefront that is ready if its unit is free in this cycle; `used` holds the units that are not.
bool ComputeUnit::offer_cycle(Simd& simd, unsigned number, Cycles cycle, unsigned& used) {
  constexpr unsigned kCounted = bit(isa::Unit::vmem) | bit(isa::Unit::lds) | bit(isa::Unit::smem);
  const unsigned unit = 1u << simd.issue.unit[number];
  if ((used & unit) != 0) return false;
  Slot& slot = simd.slots[number];
  if (unit == bit(isa::Unit::valu) && simd.valu_free > cycle) {
    slot.ready = simd.valu_free;
    simd.valu_wanted = simd.valu_free;
    return false;
  }
  if ((unit & kCounted) != 0 && counters_full(slot, cycle)) return false;
  used |= unit & ~bit(isa::Unit::special);
  issue<true>(simd, slot, cycle);
  return true;
}

// Completed operations are forgotten only when room is needed: they do not change when a wait is over.
bool ComputeUnit::counters_full(Slot& slot, Cycles cycle) {
  const auto full = [&](WaitCounter& counter, unsigned limit) {
    if (!counter.full(limit)) return false;
    counter.prune(cycle);
    if (!counter.full(limit)) return false;
    slot.account(WavefrontTime::unit_busy, cycle);
    slot.ready = counter.when_at_most(limit - 1, cycle);
    slot.account(WavefrontTime::queue_full, slot.ready);
    return true;
  };
  const bool vmem = slot.next->unit == isa::Unit::vmem;
  const bool lgkm = !vmem || slot.next->format == isa::Format::flat;
  return (vmem && full(slot.vmcnt, vmcnt_limit_)) || (lgkm && full(slot.lgkmcnt, kLgkmLimit));
}

// -- one instruction

template <bool kTimed>
void ComputeUnit::issue(Simd& simd, Slot& slot, Cycles cycle) {
  if (slot.next == nullptr) {
    fetch_fault(slot, cycle);
    return;
  }
  const isa::Instruction& instruction = *slot.next;
  isa::Wavefront& wave = slot.wave;
  Dispatch& dispatch = *slot.group->dispatch;
  if (isa::exceeds_allocation(instruction, wave.vgpr_count, wave.sgpr_count, wave.agpr_count)) [[unlikely]] {
    fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, wave.pc,
          fmt::format("instruction uses {} VGPRs, {} AGPRs and {} SGPRs, the kernel descriptor allocates {}, {} and {}",
                      instruction.max_vgpr, instruction.max_agpr, instruction.max_sgpr, wave.vgpr_count, wave.agpr_count,
                      wave.sgpr_count),
          cycle);
    return;
  }

  const std::uint64_t threads =
      counts_lanes(instruction.unit) ? static_cast<std::uint64_t>(std::popcount(wave.exec())) : std::uint64_t{1};
  ++statistics_.issued[static_cast<std::size_t>(instruction.unit)];
  ++statistics_.wavefront_instructions;
  statistics_.thread_instructions += threads;
  ++dispatch.wavefront_instructions;
  dispatch.thread_instructions += threads;

  if constexpr (kTimed) {
    slot.account(WavefrontTime::unit_busy, cycle);
    slot.account(WavefrontTime::issue, cycle + Cycles{1});
    ++dispatch.activity.issued[static_cast<std::size_t>(instruction.unit)];
  }
  const std::uint64_t here = wave.pc;
  wave.clock = cycle.n;
  if (instruction.unit == isa::Unit::smem) wave.real_time = timestamp_.floor(clock_.ticks(cycle)).n;
  wave.pc = here + instruction.size;
  wave.access.bytes_per_lane = 0;
  isa::execute_instruction(instruction, wave);

  slot.ready = kTimed ? after_issue(simd, instruction, cycle) : cycle + Cycles{1};
  if (wave.event != isa::Event::memory_fault) {
    switch (instruction.unit) {
      case isa::Unit::vmem:
        vector_memory(slot, instruction, cycle);
        break;
      case isa::Unit::smem:
        scalar_memory(slot, cycle);
        break;
      case isa::Unit::lds:
        lds_memory(slot, cycle);
        break;
      default:
        break;
    }
  }
  if (wave.event == isa::Event::end_program) {
    wave.event = isa::Event::none;
    end_wavefront(slot, cycle);
    return;
  }
  if constexpr (kTimed) slot.account(WavefrontTime::dependency, slot.ready);
  if (wave.event != isa::Event::none) {
    if (!handle_event(slot, instruction, here, cycle)) return;
  }
  if constexpr (kTimed) {
    fetch(slot, cycle);
  } else {
    slot.next = code_.at(wave.pc);
  }
}

Cycles ComputeUnit::after_issue(Simd& simd, const isa::Instruction& instruction, Cycles cycle) {
  using isa::LatencyClass;
  const std::uint64_t pass = isa::kLanes / parameters_.lanes_per_simd;
  const auto vector_busy = [&](std::uint64_t cycles) {
    simd.valu_free = cycle + Cycles{cycles};
    statistics_.valu_busy_cycles += cycles;
    return simd.valu_free + parameters_.valu_decode_cycles;
  };
  switch (instruction.latency) {
    case LatencyClass::valu:
    case LatencyClass::valu_lane:
      return vector_busy(pass);
    case LatencyClass::valu_f64:
      return vector_busy(pass * parameters_.f64_rate_divisor);
    case LatencyClass::valu_mul32:
      return vector_busy(pass * parameters_.mul32_rate_divisor);
    case LatencyClass::valu_transcendental:
      return vector_busy(pass * parameters_.transcendental_rate_divisor);
    case LatencyClass::valu_transcendental_f64:
      return vector_busy(pass * parameters_.transcendental_rate_divisor * parameters_.f64_rate_divisor);
    // A pass of the matrix core is four cycles (CDNA2 ISA manual, MFMA instructions).
    case LatencyClass::mfma_2_pass:
      return vector_busy(8);
    case LatencyClass::mfma_4_pass:
      return vector_busy(16);
    case LatencyClass::mfma_8_pass:
      return vector_busy(32);
    case LatencyClass::mfma_16_pass:
      return vector_busy(64);
    case LatencyClass::branch:
      return cycle + parameters_.branch_cycles;
    default:
      break;
  }
  switch (instruction.unit) {
    case isa::Unit::vmem:
      return cycle + parameters_.vmem_cycles;
    case isa::Unit::special:
      return cycle + parameters_.special_cycles;
    default:
      return cycle + parameters_.salu_cycles;
  }
}

bool ComputeUnit::handle_event(Slot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  const isa::Event event = wave.event;
  wave.event = isa::Event::none;
  switch (event) {
    case isa::Event::none:
    case isa::Event::end_program:  // issue() has seen to it
      return true;
    case isa::Event::barrier:
      arrive_at_barrier(slot, cycle);
      return false;
    case isa::Event::wait_count:
      wait_count(slot, wave.event_value, cycle);
      return true;
    case isa::Event::sleep:
      slot.ready = later(slot.ready, cycle + Cycles{wave.event_value});
      slot.account(WavefrontTime::sleep, slot.ready);
      return true;
    case isa::Event::message:
      if ((wave.event_value & 0xf) == kMessageInterrupt) {
        listener_.interrupt_message(*slot.group->dispatch, wave.sgpr[isa::kM0], clock_.ticks(cycle));
      }
      if ((wave.event_value & isa::kMessageThenHalt) != 0) {
        fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sendmsghalt)", cycle);
        return false;
      }
      return true;
    case isa::Event::cache_invalidate:
      invalidate_caches(slot, instruction, cycle);
      return true;
    case isa::Event::memory_fault:
      memory_fault(slot, instruction, pc, cycle);
      return false;
    case isa::Event::halt:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sethalt 1)", cycle);
      return false;
    case isa::Event::trap:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, fmt::format("trap {}", wave.event_value), cycle);
      return false;
    case isa::Event::wave_sync:
      return synchronise(slot, pc, cycle);
    case isa::Event::illegal_instruction:
      fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, "illegal instruction", cycle);
      return false;
    case isa::Event::arithmetic_exception:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "arithmetic exception", cycle);
      return false;
  }
  return true;
}

// SIMM16 of s_waitcnt (GCN3 ISA manual; gfx9 adds vmcnt bits 5:4 at 15:14). expcnt is always satisfied: stores read their data
// when they issue.
void ComputeUnit::wait_count(Slot& slot, std::uint32_t simm16, Cycles cycle) {
  const unsigned vm = (simm16 & 0xf) | ((simm16 >> 14 & 3) << 4 & vmcnt_limit_);
  const unsigned lgkm = simm16 >> 8 & 0xf;
  const auto wait = [&](WaitCounter& counter, unsigned n, WavefrontTime cause) {
    const Cycles until = counter.when_at_most(n, cycle);
    if (until > slot.ready) {
      slot.ready = until;
      slot.account_delays(counter.delays_at_most(n), until);
      slot.account(cause, until);
    }
    counter.keep(n);
  };
  if (vm != vmcnt_limit_) wait(slot.vmcnt, vm, WavefrontTime::vmcnt);
  if (lgkm != kLgkmLimit) wait(slot.lgkmcnt, lgkm, WavefrontTime::lgkmcnt);
}

void ComputeUnit::arrive_at_barrier(Slot& slot, Cycles cycle) {
  Workgroup& group = *slot.group;
  slot.state = Slot::State::at_barrier;
  ++group.at_barrier;
  group.latest_arrival = later(group.latest_arrival, cycle);
  fetch(slot, cycle);
  slot.ready_at_barrier = slot.ready;
  slot.ready = kNeverCycles;
  release_barrier(group);
}

// Wavefronts that have ended no longer count (GCN3 ISA manual, s_barrier).
void ComputeUnit::release_barrier(Workgroup& group) {
  if (group.at_barrier == 0 || group.at_barrier < group.running) return;
  const Cycles at = group.latest_arrival + (mode_ == TimingMode::functional ? Cycles{1} : parameters_.barrier_latency);
  for (unsigned i = 0; i < group.wavefronts; ++i) {
    Slot& slot = *group.slots[i];
    if (slot.group != &group || slot.state != Slot::State::at_barrier) continue;
    slot.state = Slot::State::running;
    slot.ready = later(slot.ready_at_barrier, at);
    slot.account(WavefrontTime::barrier, slot.ready);
    slot.simd->wake(slot.ready);
  }
  group.at_barrier = 0;
  group.latest_arrival = Cycles{};
}

void ComputeUnit::end_wavefront(Slot& slot, Cycles cycle) {
  Workgroup& group = *slot.group;
  slot.end_account();
  // The last stores of a program need not be waited for by it, but the workgroup is done only when they are performed.
  group.end = later(group.end, later(slot.vmcnt.when_at_most(0, cycle), slot.lgkmcnt.when_at_most(0, cycle)));
  release(slot);
  --group.running;
  release_barrier(group);
  if (group.running > 0) return;
  Dispatch& dispatch = *group.dispatch;
  const Tick at = clock_.ticks(group.end + Cycles{1});
  release(group);
  if (!dispatch.failed) listener_.workgroup_done(*this, dispatch, {group.scratch_slots.data(), group.scratch_count}, at);
}

}  // namespace lacuna
