// Functional mode: wavefronts one after the other, each until it waits or the window is over. Every instruction takes a cycle.

#include <array>
#include <bit>

#include "models/compute/compute_unit.h"

namespace lacuna {

void ComputeUnit::run_functional(Cycles limit) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& simd : pool_.simds()) {
      for (unsigned i = 0; i < simd->issue.resident;) {
        WavefrontSlot& slot = *simd->issue.slots[i];
        if (slot.ready() < limit) {
          run_wavefront(slot, limit);
          progress = true;
        }
        if (i < simd->issue.resident && simd->issue.slots[i] == &slot) ++i;
      }
    }
  }
  for (const auto& simd : pool_.simds()) pool_.times().set(simd->number, simd->issue.earliest());
}

// The inner loop holds what every instruction needs. It is left for what an instruction asks for, before which all that has
// been executed is counted: a workgroup that ends may let its kernel end, and another wavefront take the slot.
void ComputeUnit::run_wavefront(WavefrontSlot& slot, Cycles limit) {
  isa::Wavefront& wave = slot.wave;
  for (Cycles cycle = slot.ready(); cycle < limit; cycle = later(cycle + Cycles{1}, slot.ready())) {
    if (!may_execute(slot)) [[unlikely]] {
      refuse(slot, cycle);
      continue;
    }
    const isa::DecodedInstruction* instruction = slot.next;
    std::array<std::uint64_t, isa::kUnits> issued{};
    std::array<std::uint64_t, isa::kUnits> active_lanes{};  // counted for all units: a test would take longer
    for (;;) {
      const auto of_unit = static_cast<std::size_t>(instruction->unit);
      ++issued[of_unit];
      active_lanes[of_unit] += static_cast<std::uint64_t>(std::popcount(wave.exec()));
      execute(slot, *instruction, cycle);
      if (wave.event != isa::Event::none) {
        if (wave.event != isa::Event::wait_count) break;
        wave.event = isa::Event::none;  // all memory operations are completed
      }
      if (cycle + Cycles{1} >= limit) break;
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
      threads += executes_lanes(static_cast<isa::Unit>(unit)) ? active_lanes[unit] : issued[unit];
    }
    statistics_.wavefront_instructions += instructions;
    statistics_.thread_instructions += threads;
    DispatchWork& work = *slot.group->work;
    work.wavefront_instructions += instructions;
    work.thread_instructions += threads;
    slot.next = instruction;
    slot.when = cycle + Cycles{1};
    go_on(slot, *instruction, cycle);
  }
}

}  // namespace lacuna
