// The issue loop of a compute unit: which wavefront issues in which cycle, how long its instruction keeps what, and where the
// wavefront's time goes.

#include <fmt/format.h>

#include <bit>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/host/host_prefetch.h"
#include "models/compute/compute_unit.h"
#include "models/isa/analysis/register_use.h"

namespace lacuna {

namespace {

constexpr unsigned bit(isa::Unit unit) { return 1u << static_cast<unsigned>(unit); }

// Instructions that execute together at most: about as many as a tiled product has between two barriers.
constexpr unsigned kMostAhead = 64;

constexpr unsigned kMemoryUnits = bit(isa::Unit::vmem) | bit(isa::Unit::lds) | bit(isa::Unit::smem);

// A hint for the host, which fetches what a wavefront's next instruction reads while other wavefronts issue. Operands that are
// no vector registers get one as well, of no use: a branch that the host cannot foresee would cost more.
void prefetch_operands(const isa::Instruction& next, const isa::Wavefront& wave) {
  constexpr unsigned kRegisters = 256;
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t* const lanes = wave.vgpr + std::size_t{next.src[i].index % kRegisters} * isa::kLanes;
    for (unsigned lane = 0; lane < isa::kLanes; lane += 16) fetch_to_host(lanes + lane);
  }
}

std::string illegal_instruction_text(const isa::Instruction& instruction) {
  const std::string reason = isa::not_executed_reason(instruction);
  return reason.empty() ? "illegal instruction" : "illegal instruction: " + reason;
}

}  // namespace

void ComputeUnit::run_timed(Cycles limit) {
  scheduler_.run(
      limit, [this](Simd & simd, WavefrontSlot & slot, unsigned unit, Cycles cycle)
                 __attribute__((always_inline)) { return offer_cycle(simd, slot, unit, cycle); });
}

// Issues the instruction of a wavefront that is ready, if nothing else of its unit keeps it.
[[gnu::always_inline]] inline bool ComputeUnit::offer_cycle(Simd& simd, WavefrontSlot& slot, unsigned unit, Cycles cycle) {
  if (matrix_results_ != nullptr && waits_for_matrix(slot, cycle)) [[unlikely]]
    return false;
  // Seldom first: which unit it is, the host cannot foresee.
  if (simd.valu_free > cycle) [[unlikely]] {
    if (unit == bit(isa::Unit::valu)) {
      slot.when = simd.valu_free;
      slot.publish();
      simd.valu_wanted = simd.valu_free;
      return false;
    }
  }
  if (slot.next != nullptr && slot.next->passes != 0) [[unlikely]] {
    if (matrix_.free_from(simd.number) > cycle) {
      slot.when = matrix_.free_from(simd.number);
      slot.publish();
      return false;
    }
  }
  if ((unit & kMemoryUnits) != 0 && counters_full(slot, cycle)) return false;
  issue(simd, slot, cycle);
  return true;
}

bool ComputeUnit::counters_full(WavefrontSlot& slot, Cycles cycle) {
  const bool vmem = slot.next->unit == isa::Unit::vmem;
  const bool lgkm = !vmem || slot.next->format == isa::Format::flat;
  return (vmem && counter_full(slot, slot.vmcnt, vmcnt_limit_, StallReason::vm_limit, cycle)) ||
         (lgkm && counter_full(slot, slot.lgkmcnt, kLgkmLimit, StallReason::lgkm_limit, cycle));
}

// -- one instruction

void ComputeUnit::refuse(WavefrontSlot& slot, Cycles cycle) {
  if (slot.next == nullptr) {
    fetch_fault(slot, cycle);
    return;
  }
  const isa::Instruction& instruction = *slot.next;
  const isa::Wavefront& wave = slot.wave;
  fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, wave.pc,
        fmt::format("instruction uses {} VGPRs, {} AGPRs and {} SGPRs, the kernel descriptor allocates {}, {} and {}",
                    instruction.max_vgpr, instruction.max_agpr, instruction.max_sgpr, wave.vgpr_count, wave.agpr_count,
                    wave.sgpr_count),
        cycle);
}

[[gnu::always_inline]] inline void ComputeUnit::count(WavefrontSlot& slot, const isa::Instruction& instruction,
                                                      std::uint64_t threads) {
  const auto unit = static_cast<std::size_t>(instruction.unit);
  DispatchWork& work = *slot.group->work;
  ++statistics_.issued[unit];
  ++statistics_.wavefront_instructions;
  statistics_.thread_instructions += threads;
  if (executions_ != nullptr) executions_->count(instruction.profile, threads);
  ++work.wavefront_instructions;
  work.thread_instructions += threads;
  ++work.activity.issued[unit];
}

// A call would show.
[[gnu::always_inline]] inline void ComputeUnit::issue(Simd& simd, WavefrontSlot& slot, Cycles cycle) {
  if (slot.ahead != 0) {
    issue_executed(simd, slot, cycle);
    return;
  }
  if (!may_execute(slot)) [[unlikely]] {
    refuse(slot, cycle);
    return;
  }
  const isa::DecodedInstruction& instruction = *slot.next;
  // One that waits for its registers has taken its turn, as it finds out only when it reads them.
  if (first_stage_ != nullptr && !prepare_stages(slot, instruction, cycle)) return;
  isa::Wavefront& wave = slot.wave;
  count(slot, instruction, threads_of(instruction, wave));
  if (instruction.latency == isa::LatencyClass::waitcnt) {
    issue_wait(slot, instruction, cycle);
    if (first_stage_ == nullptr) execute_ahead(slot, instruction);
    return;
  }
  slot.account_issue(cycle);
  const bool memory = (bit(instruction.unit) & kMemoryUnits) != 0;
  if (memory) wave.access.bytes_per_lane = 0;
  execute(slot, instruction, cycle);
  slot.when = after_issue(simd, slot, instruction, cycle);
  if (memory && wave.event != isa::Event::memory_fault) access_memory(slot, instruction, cycle);
  go_on(slot, instruction, cycle);
  if (instruction.reach != isa::Reach::outside && first_stage_ == nullptr) {
    execute_ahead(slot, instruction);
  } else if (slot.next != nullptr) {
    prefetch_operands(*slot.next, wave);
  }
}

// s_waitcnt, without its executor, which would do no more than raise an event.
[[gnu::always_inline]] inline void ComputeUnit::issue_wait(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                                           Cycles cycle) {
  slot.wave.pc = instruction.end;
  slot.when = cycle + costs_.wavefront(instruction);
  slot.account_issue(cycle, slot.when);
  wait_count(slot, static_cast<std::uint32_t>(instruction.immediate), cycle);
  fetch_.follow(slot, instruction, cycle);
}

// An instruction that execute_ahead() has executed or, if it only makes its wavefront wait, has passed over.
[[gnu::always_inline]] inline void ComputeUnit::issue_executed(Simd& simd, WavefrontSlot& slot, Cycles cycle) {
  const isa::DecodedInstruction& instruction = *slot.next;
  --slot.ahead;
  count(slot, instruction, executes_lanes(instruction.unit) ? slot.ahead_lanes : 1);
  if (instruction.latency == isa::LatencyClass::waitcnt) {
    issue_wait(slot, instruction, cycle);
    return;
  }
  if (instruction.reach == isa::Reach::nothing) [[unlikely]] {  // s_nop
    slot.account_issue(cycle);
    execute(slot, instruction, cycle);
    slot.when = after_issue(simd, slot, instruction, cycle);
    go_on(slot, instruction, cycle);
    return;
  }
  slot.wave.pc = instruction.end;
  slot.when = after_issue(simd, slot, instruction, cycle);
  slot.account_issue(cycle, slot.when);
  if (instruction.reach == isa::Reach::lds) access_lds(slot, slot.ahead_lds_cycles[slot.ahead_lds++], cycle);
  fetch_.follow(slot, instruction, cycle);
}

// What comes behind an instruction, as far as it concerns nobody but the wavefront, executes with it, while the registers are
// in the host's nearest caches: until it issues, those of other wavefronts would have pushed them out. By then the program will
// have waited for what it reads, and all of that is there already, but for what the window's edge performs.
void ComputeUnit::execute_ahead(WavefrontSlot& slot, const isa::DecodedInstruction& instruction) {
  isa::Wavefront& wave = slot.wave;
  const std::uint64_t pc = wave.pc;
  unsigned count = 0;
  unsigned lds = 0;
  for (const isa::DecodedInstruction* last = &instruction; count < kMostAhead; ++count) {
    if (last->reach == isa::Reach::nothing && deferred_count_ != 0) break;
    const isa::DecodedInstruction* const next = fetch_.code().after(last, last->end);
    if (next == nullptr || next->reach == isa::Reach::outside || !slot.allocation.holds(*next)) break;
    last = next;
    if (next->reach == isa::Reach::nothing) continue;
    const bool in_lds = next->reach == isa::Reach::lds;
    if (in_lds) {
      if (lds == slot.ahead_lds_cycles.size()) break;
      wave.access.bytes_per_lane = 0;
    }
    wave.pc = next->end;
    isa::execute_instruction(*next, wave);
    if (in_lds) slot.ahead_lds_cycles[lds++] = lds_.cycles(wave.access, vector_memory_.addresses().lds, next->end);
  }
  slot.ahead = static_cast<std::uint8_t>(count);
  slot.ahead_lds = 0;
  slot.ahead_lanes = static_cast<std::uint8_t>(std::popcount(wave.exec()));
  wave.pc = pc;
}

bool ComputeUnit::prepare_stages(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  for (LoadStage* stage = first_stage_; stage != nullptr; stage = stage->next()) {
    if (!stage->prepare(slot, instruction, cycle)) return false;
  }
  return true;
}

void ComputeUnit::access_memory(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  switch (instruction.unit) {
    case isa::Unit::vmem: {
      const Counters counters = instruction.format == isa::Format::flat ? Counters::both : Counters::vmcnt;
      const bool global = access.bytes_per_lane != 0 && access.lanes != 0;
      const MemoryTokens::Token token = !global                   ? vector_memory_.no_access(slot, counters, cycle)
                                        : first_stage_ == nullptr ? vector_memory_.access(slot, access, counters, cycle)
                                                                  : first_stage_->access(slot, instruction, counters, cycle);
      if (access.bytes_per_lane != 0 && access.lds_lanes != 0) {
        const LocalDataShare::Result local =
            lds_.access(lds_.cycles(access, vector_memory_.addresses().lds, instruction.end), cycle);
        tokens_.include(token, local.done, local.delays);
      }
      if (access.bytes_per_lane != 0 && access.deferred) [[unlikely]]
        defer(slot, instruction, token, cycle);
      tokens_.issued(token);
      break;
    }
    case isa::Unit::smem:
      if (access.bytes_per_lane == 0) {
        slot.lgkmcnt.add_out_of_order(cycle + Cycles{1});
      } else {
        const MemoryTokens::Token token = scalar_memory_.access(slot, cycle);
        if (access.deferred) [[unlikely]]
          defer(slot, instruction, token, cycle);
        tokens_.issued(token);
      }
      break;
    case isa::Unit::lds:
      access_lds(slot, lds_.cycles(access, vector_memory_.addresses().lds, instruction.end), cycle);
      break;
    default:
      break;
  }
}

void ComputeUnit::access_lds(WavefrontSlot& slot, LdsCycles taken, Cycles cycle) {
  const LocalDataShare::Result result = lds_.access(taken, cycle);
  slot.lgkmcnt.add_out_of_order(result.done, result.delays);
}

inline Cycles ComputeUnit::after_issue(Simd& simd, WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                       Cycles cycle) {
  std::uint64_t busy = costs_.vector_unit(instruction);
  if (busy == IssueCosts::kNone) return cycle + costs_.wavefront(instruction);
  if (busy == IssueCosts::kMatrix) [[unlikely]]
    busy = issue_matrix(slot, instruction, cycle);
  simd.valu_free = cycle + Cycles{busy};
  statistics_.valu_busy_cycles += busy;
  return simd.valu_free + parameters_.valu_decode_cycles;
}

bool ComputeUnit::handle_event(WavefrontSlot& slot, const isa::Instruction& instruction, std::uint64_t pc, Cycles cycle) {
  isa::Wavefront& wave = slot.wave;
  const isa::Event event = wave.event;
  wave.event = isa::Event::none;
  switch (event) {
    case isa::Event::none:
    case isa::Event::end_program:  // seen to by go_on()
    case isa::Event::wait_count:   // nobody executes it here: see issue_wait()
      return true;
    case isa::Event::barrier:
      arrive_at_barrier(slot, cycle);
      return false;
    case isa::Event::sleep:
      slot.when = later(slot.when, cycle + Cycles{wave.event_value});
      slot.account(StallCause::sleep, slot.when);
      return true;
    case isa::Event::wait_states:
      slot.when = slot.when + Cycles{wave.event_value * parameters_.wait_state_cycles.n};
      slot.account(StallCause::dependency, slot.when);
      return true;
    case isa::Event::message:
      if ((wave.event_value & 0xf) == kMessageInterrupt) {
        report(ComputeUnitReport::Kind::message, *slot.group->dispatch, clock_.ticks(cycle)).m0 = wave.sgpr[isa::kM0];
        reported();
      }
      if ((wave.event_value & isa::kMessageThenHalt) != 0) {
        fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sendmsghalt)", cycle);
        return false;
      }
      return true;
    case isa::Event::cache_invalidate:
      return invalidate_caches(slot, instruction, cycle);
    case isa::Event::memory_fault:
      memory_fault(slot, instruction, pc, cycle);
      return false;
    case isa::Event::fine_grained_float_atomic:
      warn_of_fine_grained_atomic(slot, pc, cycle);
      return true;
    case isa::Event::halt:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "wavefront halted itself (s_sethalt 1)", cycle);
      return false;
    case isa::Event::trap:
      if (wave.event_value == isa::kDebugTrap) return true;
      trap(slot, pc, cycle);
      return false;
    case isa::Event::wave_sync:
      return synchronise(slot, pc, cycle);
    case isa::Event::illegal_instruction:
      fault(slot, LACUNA_FAULT_ILLEGAL_INSTRUCTION, 0, pc, illegal_instruction_text(instruction), cycle);
      return false;
    case isa::Event::arithmetic_exception:
      fault(slot, LACUNA_FAULT_TRAP, 0, pc, "arithmetic exception", cycle);
      return false;
  }
  return true;
}

// False: the wavefront waits for the window's edge, as what has been stored to code does.
bool ComputeUnit::invalidate_caches(WavefrontSlot& slot, const isa::Instruction& instruction, Cycles cycle) {
  CacheMaintenance* cache = instruction.unit == isa::Unit::vmem   ? l1_vector_
                            : instruction.unit == isa::Unit::smem ? l1_scalar_
                                                                  : l1_instruction_;
  const bool code = instruction.unit != isa::Unit::vmem && instruction.unit != isa::Unit::smem;
  if (mode_ == TimingMode::functional) {
    if (code) fetch_.code().revalidate();
    return true;
  }
  if (cache != nullptr) {
    const Cycles done = clock_.ceil(cache->invalidate(clock_.ticks(cycle)));
    if (instruction.unit == isa::Unit::vmem) {
      slot.vmcnt.add_in_order(done);
    } else {
      slot.when = later(slot.when, done);
    }
  }
  if (!code) return true;
  slot.hold(StallReason::sync);
  slot.publish();
  report(ComputeUnitReport::Kind::code_changed, *slot.group->dispatch, clock_.ticks(cycle)).wavefront = {
      slot.group->dispatch, this, slot.simd->number, slot.number};
  return false;
}

}  // namespace lacuna
