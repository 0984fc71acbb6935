#include "models/compute/issue/functional_issue.h"

#include <array>
#include <bit>

namespace lacuna {

namespace {

Cycles limit_of_part(const WavefrontSlot& slot) { return {static_cast<std::uint64_t>(slot.untimed_limit)}; }

}  // namespace

void FunctionalIssue::run(Cycles limit) {
  run_all<Bounds::none>([limit](const WavefrontSlot&) { return limit; });
}

void FunctionalIssue::run_buffered(Cycles limit) {
  run_all<Bounds::order>([limit](const WavefrontSlot&) { return limit; });
}

unsigned FunctionalIssue::run_to_limits(Cycles limit, const AddressRange& code) {
  code_ = code;
  stopped_ = 0;
  run_all<Bounds::code>([limit](const WavefrontSlot& slot) { return slot.untimed_limit == 0 ? limit : limit_of_part(slot); });
  return stopped_;
}

template <FunctionalIssue::Bounds kBounds, class LimitOf>
void FunctionalIssue::run_all(const LimitOf& limit_of) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& simd : pool_.simds()) {
      for (unsigned i = 0; i < simd->issue.resident;) {
        WavefrontSlot& slot = *simd->issue.slots[i];
        if (const Cycles limit = limit_of(slot); slot.ready() < limit) {
          run_wavefront<kBounds>(slot, limit);
          progress = true;
        }
        if (i < simd->issue.resident && simd->issue.slots[i] == &slot) ++i;
      }
    }
  }
  for (const auto& simd : pool_.simds()) pool_.times().set(simd->number, simd->issue.earliest());
}

template <FunctionalIssue::Bounds kBounds>
void FunctionalIssue::run_wavefront(WavefrontSlot& slot, Cycles limit) {
  for (Cycles cycle = slot.ready(); cycle < limit; cycle = later(cycle + Cycles{1}, slot.ready())) {
    if (!InstructionExecution::may_execute(slot)) [[unlikely]] {
      execution_.refuse(slot, cycle);
      continue;
    }
    cycle = run_straight_line<kBounds>(slot, cycle, limit);
    if (kBounds == Bounds::order && slot.held_by(StallReason::order)) {
      slot.publish(slot.next->unit);
      return;
    }
    execution_.complete(slot, *slot.next, cycle);
    if (kBounds == Bounds::code && slot.untimed_limit != 0) limit = limit_of_part(slot);
  }
}

// Executes from slot.next on until `limit`, until an instruction has no executable successor, or until it raises an event other
// than a wait; the caller handles the event. Sets slot.next to this last instruction and returns its cycle. All instructions
// are counted before the event is handled, because the event may end the workgroup and its kernel, and another wavefront may
// then take the slot. With a store buffer, an instruction whose access is deferred has had no effect: it is executed again
// later.
template <FunctionalIssue::Bounds kBounds>
[[gnu::always_inline]] inline Cycles FunctionalIssue::run_straight_line(WavefrontSlot& slot, Cycles cycle, Cycles limit) {
  isa::Wavefront& wave = slot.wave;
  const isa::DecodedInstruction* instruction = slot.next;
  std::array<std::uint64_t, isa::kUnits> issued{};
  std::array<std::uint64_t, isa::kUnits> active_lanes{};  // also for units whose lanes do not count: a test would take longer
  for (;;) {
    const auto of_unit = static_cast<std::size_t>(instruction->unit);
    ++issued[of_unit];
    active_lanes[of_unit] += static_cast<std::uint64_t>(std::popcount(wave.exec()));
    execution_.execute(slot, *instruction, cycle);
    if constexpr (kBounds == Bounds::order) {
      if (wave.access.deferred) [[unlikely]] {
        wave.access.deferred = false;
        wave.event = isa::Event::none;
        wave.pc = instruction->end - instruction->size;
        --issued[of_unit];
        active_lanes[of_unit] -= static_cast<std::uint64_t>(std::popcount(wave.exec()));
        slot.hold(StallReason::order);
        break;
      }
    }
    if (wave.event != isa::Event::none) {
      if (wave.event != isa::Event::wait_count) break;
      wave.event = isa::Event::none;  // all memory operations are complete
    }
    if (cycle + Cycles{1} >= limit) break;
    if constexpr (kBounds == Bounds::code) {
      if (!code_.contains(wave.pc) && slot.untimed_limit != 0) [[unlikely]] {
        slot.untimed_limit = static_cast<double>((cycle + Cycles{1}).n);
        slot.untimed_share = 0;
        ++stopped_;
        break;
      }
    }
    const isa::DecodedInstruction* next = fetch_.code().after(instruction, wave.pc);
    if (next == nullptr || !slot.allocation.holds(*next)) [[unlikely]]
      break;
    instruction = next;
    ++cycle.n;
  }

  std::uint64_t instructions = 0;
  std::uint64_t threads = 0;
  for (std::size_t unit = 0; unit < issued.size(); ++unit) {
    statistics_.issued[unit] += issued[unit];
    instructions += issued[unit];
    threads += IssueStatistics::counts_lanes(static_cast<isa::Unit>(unit)) ? active_lanes[unit] : issued[unit];
  }
  statistics_.wavefront_instructions += instructions;
  statistics_.thread_instructions += threads;
  DispatchWork& work = *slot.group->work;
  work.wavefront_instructions += instructions;
  work.thread_instructions += threads;
  if (by_unit_) {
    for (std::size_t unit = 0; unit < issued.size(); ++unit) work.activity.issued[unit] += issued[unit];
  }
  slot.next = instruction;
  slot.when = cycle + Cycles{1};
  return cycle;
}

}  // namespace lacuna
