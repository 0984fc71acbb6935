// The issue loop of a compute unit. Performance notes: models/compute/detail/host_prefetch.h.

#include <bit>

#include "models/compute/compute_unit.h"
#include "models/compute/detail/host_prefetch.h"

namespace lacuna {

namespace {

constexpr unsigned bit(isa::Unit unit) { return 1u << static_cast<unsigned>(unit); }

// Maximum number of instructions that execute together: about as many as a tiled matrix product has between two barriers.
constexpr unsigned kMostAhead = 64;

constexpr unsigned kMemoryUnits = bit(isa::Unit::vmem) | bit(isa::Unit::lds) | bit(isa::Unit::smem);

}  // namespace

void ComputeUnit::run_timed(Cycles limit) {
  scheduler_.run(
      limit, [this](Simd & simd, WavefrontSlot & slot, unsigned unit, Cycles cycle)
                 __attribute__((always_inline)) { return offer_cycle(simd, slot, unit, cycle); });
}

// Issues the instruction of a ready wavefront, unless a resource is busy.
[[gnu::always_inline]] inline CycleUse ComputeUnit::offer_cycle(Simd& simd, WavefrontSlot& slot, unsigned unit, Cycles cycle) {
  if (matrix_.stalls(slot, cycle)) [[unlikely]]
    return CycleUse::none;
  if (simd.valu_free > cycle) [[unlikely]] {
    if (unit == bit(isa::Unit::valu) && !memory_.commits(slot, cycle)) {
      slot.when = simd.valu_free;
      slot.publish();
      simd.valu_wanted = simd.valu_free;
      return CycleUse::none;
    }
  }
  if (simd.logic_free > cycle) [[unlikely]] {
    if (slot.next != nullptr && slot.next->latency == isa::LatencyClass::valu_logic && !memory_.commits(slot, cycle)) {
      slot.when = simd.logic_free;
      slot.publish();
      return CycleUse::none;
    }
  }
  if (slot.next != nullptr && slot.next->passes != 0) [[unlikely]] {
    if (matrix_.free_from(simd.number) > cycle) {
      slot.when = matrix_.free_from(simd.number);
      slot.publish();
      return CycleUse::none;
    }
  }
  if ((unit & kMemoryUnits) != 0 && memory_.full(slot, cycle)) return CycleUse::none;
  return issue(simd, slot, cycle) ? CycleUse::committed : CycleUse::unit;
}

// -- one instruction

namespace {

/// Contribution of an instruction to IssueStatistics::thread_instructions.
std::uint64_t threads_of(const isa::Instruction& instruction, const isa::Wavefront& wave) {
  const std::uint64_t of_lanes = IssueStatistics::counts_lanes(instruction.unit) ? 1 : 0;
  return (static_cast<std::uint64_t>(std::popcount(wave.exec())) & (0 - of_lanes)) | (of_lanes ^ 1);
}

// Not inlined, to keep the issue loop short for runs without energy.
[[gnu::noinline]] void count_execution(ExecutionCounts& executions, const isa::Instruction& instruction, isa::Wavefront& wave,
                                       std::uint64_t lanes) {
  executions.count(instruction.profile, lanes);
  executions.toggles().operands(instruction, wave);
}

[[gnu::noinline]] void sample_memory(ExecutionCounts& executions, const isa::Instruction& instruction, isa::Wavefront& wave) {
  executions.toggles().memory(instruction, wave);
}

}  // namespace

// Counts an issued instruction. `elsewhere`: lanes whose part is performed elsewhere; they are issued, but use no registers and
// no ALU of this unit.
[[gnu::always_inline]] inline void ComputeUnit::count(WavefrontSlot& slot, const isa::Instruction& instruction,
                                                      std::uint64_t threads, std::uint64_t elsewhere) {
  const auto unit = static_cast<std::size_t>(instruction.unit);
  DispatchWork& work = *slot.group->work;
  ++slot.issued;
  ++statistics_.issued[unit];
  ++statistics_.wavefront_instructions;
  statistics_.thread_instructions += threads;
  if (executions_ != nullptr) [[unlikely]]
    count_execution(*executions_, instruction, slot.wave, threads - static_cast<std::uint64_t>(std::popcount(elsewhere)));
  ++work.wavefront_instructions;
  work.thread_instructions += threads;
  ++work.activity.issued[unit];
}

[[gnu::always_inline]] inline bool ComputeUnit::issue(Simd& simd, WavefrontSlot& slot, Cycles cycle) {
  if (slot.ahead != 0) {
    issue_executed(simd, slot, cycle);
    return false;
  }
  if (!InstructionExecution::may_execute(slot)) [[unlikely]] {
    execution_.refuse(slot, cycle);
    return false;
  }
  const isa::DecodedInstruction& instruction = *slot.next;
  StageVerdict verdict;
  if (slot.staged) {
    verdict = memory_.prepare(slot, instruction, cycle);
    // A wavefront that a stage stalls has used the cycle: the hazard is detected at register read.
    if (!verdict.issues) {
      take_vector_unit(simd, slot, verdict, cycle);
      return false;
    }
  }
  isa::Wavefront& wave = slot.wave;
  count(slot, instruction, threads_of(instruction, wave), verdict.elsewhere);
  if (instruction.latency == isa::LatencyClass::waitcnt) {
    issue_wait(slot, instruction, cycle);
    if (!slot.staged) execute_ahead(slot, instruction);
    return false;
  }
  slot.account_issue(cycle);
  const bool memory = (bit(instruction.unit) & kMemoryUnits) != 0;
  if (memory) wave.access.bytes_per_lane = 0;
  // All active lanes of a committed instruction are performed elsewhere.
  const bool committed = instruction.unit == isa::Unit::valu && verdict.elsewhere != 0 && verdict.elsewhere == wave.exec();
  execution_.execute(slot, instruction, cycle);
  slot.when = committed ? cycle + parameters_.salu_cycles : after_issue(simd, slot, instruction, cycle);
  if (memory && wave.event != isa::Event::memory_fault) {
    memory_.issue(slot, instruction, cycle);
    if (executions_ != nullptr) [[unlikely]]
      sample_memory(*executions_, instruction, wave);
  }
  execution_.complete(slot, instruction, cycle);
  if (instruction.reach != isa::Reach::outside && !slot.staged) {
    execute_ahead(slot, instruction);
  } else if (slot.next != nullptr) {
    detail::prefetch_operands(*slot.next, wave);
  }
  return committed;
}

// Occupies the vector ALU for earlier instructions of the wavefront that were committed without execution and execute now.
void ComputeUnit::take_vector_unit(Simd& simd, WavefrontSlot& slot, const StageVerdict& verdict, Cycles cycle) {
  if (verdict.vector_unit == Cycles{}) return;
  simd.valu_free = cycle + verdict.vector_unit;
  statistics_.valu_busy_cycles += verdict.vector_unit.n;
  slot.when = simd.valu_free;
  slot.account(StallCause::dependency, slot.when);
  slot.publish();
}

// s_waitcnt is not executed: it would only raise an event.
[[gnu::always_inline]] inline void ComputeUnit::issue_wait(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                                           Cycles cycle) {
  slot.wave.pc = instruction.end;
  slot.when = cycle + costs_.wavefront(instruction);
  slot.account_issue(cycle, slot.when);
  memory_.wait(slot, static_cast<std::uint32_t>(instruction.immediate), cycle);
  fetch_.follow(slot, instruction, cycle);
}

// Issues an instruction that execute_ahead() has executed or, if it is a wait, has skipped.
[[gnu::always_inline]] inline void ComputeUnit::issue_executed(Simd& simd, WavefrontSlot& slot, Cycles cycle) {
  const isa::DecodedInstruction& instruction = *slot.next;
  --slot.ahead;
  count(slot, instruction, IssueStatistics::counts_lanes(instruction.unit) ? slot.ahead_lanes : 1);
  if (instruction.latency == isa::LatencyClass::waitcnt) {
    issue_wait(slot, instruction, cycle);
    return;
  }
  if (instruction.reach == isa::Reach::nothing) [[unlikely]] {  // s_nop
    slot.account_issue(cycle);
    execution_.execute(slot, instruction, cycle);
    slot.when = after_issue(simd, slot, instruction, cycle);
    execution_.complete(slot, instruction, cycle);
    return;
  }
  slot.wave.pc = instruction.end;
  slot.when = after_issue(simd, slot, instruction, cycle);
  slot.account_issue(cycle, slot.when);
  if (instruction.reach == isa::Reach::lds) memory_.issue_lds(slot, slot.ahead_lds_cycles[slot.ahead_lds++], cycle);
  fetch_.follow(slot, instruction, cycle);
}

// Executes the instructions after `instruction` that access only registers and LDS. Their operands are valid, since memory
// accesses move data when they issue. Deferred accesses move data later, so while any are pending, execution stops at the
// first wait.
void ComputeUnit::execute_ahead(WavefrontSlot& slot, const isa::DecodedInstruction& instruction) {
  isa::Wavefront& wave = slot.wave;
  const std::uint64_t pc = wave.pc;
  unsigned count = 0;
  unsigned lds = 0;
  for (const isa::DecodedInstruction* last = &instruction; count < kMostAhead; ++count) {
    if (last->reach == isa::Reach::nothing && memory_.has_deferred()) break;
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
    if (in_lds) slot.ahead_lds_cycles[lds++] = memory_.lds_cycles(wave.access, *next);
  }
  slot.ahead = static_cast<std::uint8_t>(count);
  slot.ahead_lds = 0;
  slot.ahead_lanes = static_cast<std::uint8_t>(std::popcount(wave.exec()));
  wave.pc = pc;
}

void ComputeUnit::skip_executed(WavefrontSlot& slot) {
  for (; slot.ahead != 0; --slot.ahead) {
    const isa::DecodedInstruction& instruction = *slot.next;
    count(slot, instruction, IssueStatistics::counts_lanes(instruction.unit) ? slot.ahead_lanes : 1);
    slot.wave.pc = instruction.end;
    slot.next = fetch_.code().after(&instruction, instruction.end);
  }
  slot.ahead_lds = 0;
}

inline Cycles ComputeUnit::after_issue(Simd& simd, WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                       Cycles cycle) {
  std::uint64_t busy = costs_.vector_unit(instruction);
  if (busy == IssueCosts::kNone) return cycle + costs_.wavefront(instruction);
  if (busy == IssueCosts::kMatrix) [[unlikely]]
    busy = matrix_.issue(slot, instruction, cycle);
  simd.valu_free = cycle + Cycles{busy};
  if (costs_.logic_port() != Cycles{} && instruction.latency == isa::LatencyClass::valu_logic) [[unlikely]]
    simd.logic_free = cycle + costs_.logic_port();
  statistics_.valu_busy_cycles += busy;
  return simd.valu_free + parameters_.valu_decode_cycles;
}

}  // namespace lacuna
