#include "models/compute/wavefront_inspector.h"

#include <algorithm>

#include "models/compute/initial_state.h"
#include "models/isa/decode/decoder.h"

namespace lacuna {

void WavefrontInspector::take_snapshot(Cycles end, std::vector<WavefrontSnapshot>& wavefronts) const {
  for (const auto& simd : pool_.simds()) {
    for (unsigned i = 0; i < simd->issue.resident; ++i) {
      const WavefrontSlot& slot = *simd->issue.slots[i];
      const ResidentWorkgroup& group = *slot.group;
      const auto extent = workgroup_extent(*group.dispatch, group.id);
      const std::uint64_t items = std::uint64_t{extent[0]} * extent[1] * extent[2];
      const std::uint64_t before = std::uint64_t{slot.wave_in_group} * isa::kLanes;
      WavefrontSnapshot& made = wavefronts.emplace_back();
      made.dispatch = group.dispatch;
      made.unit = this;
      made.simd = simd->number;
      made.slot = slot.number;
      made.workgroup = group.linear_id;
      made.workgroup_id = group.id;
      made.wave_in_group = slot.wave_in_group;
      made.work_items = static_cast<unsigned>(std::min<std::uint64_t>(items - before, isa::kLanes));
      made.vector_memory = slot.vmcnt.outstanding();
      made.other_memory = slot.lgkmcnt.outstanding();
      made.wavefronts = group.wavefronts;
      made.ended = group.wavefronts - group.running;
      made.at_barrier = group.at_barrier;
      made.wait = wait_of(slot, end);
      // The program counter is past an instruction that makes its wavefront wait.
      const bool in_wait = made.wait == WavefrontWait::memory || made.wait == WavefrontWait::sleep ||
                           made.wait == WavefrontWait::barrier || made.wait == WavefrontWait::sync;
      const isa::DecodedInstruction* const previous = in_wait ? previous_instruction(slot) : nullptr;
      made.pc = slot.wave.pc - (previous == nullptr ? 0 : previous->size);
    }
  }
}

// The previous instruction in straight-line code. Call it only if that instruction exists: a word that decodes may also be the
// second half of a longer instruction.
const isa::DecodedInstruction* WavefrontInspector::previous_instruction(const WavefrontSlot& slot) const {
  for (const unsigned size : {4U, 8U}) {
    const isa::DecodedInstruction* const before = code_.at(slot.wave.pc - size);
    if (before != nullptr && before->size == size && before->end == slot.wave.pc) return before;
  }
  return nullptr;
}

WavefrontWait WavefrontInspector::wait_of(const WavefrontSlot& slot, Cycles end) const {
  if (slot.held_by(StallReason::fault)) return WavefrontWait::fault;
  if (slot.held_by(StallReason::barrier)) return WavefrontWait::barrier;
  if (slot.held_by(StallReason::sync)) return WavefrontWait::sync;
  if (slot.held_by(StallReason::vmcnt) || slot.held_by(StallReason::lgkmcnt)) return WavefrontWait::memory;
  if (slot.held_by(StallReason::vm_limit) || slot.held_by(StallReason::lgkm_limit)) return WavefrontWait::counter;
  if (slot.held_by(StallReason::registers)) return WavefrontWait::registers;
  if (slot.held_by(StallReason::fetch)) return WavefrontWait::fetch;
  // Units have run to the end of the window. A wavefront that is ready later waits for a response at a known time, or sleeps.
  if (slot.when <= end) return WavefrontWait::none;
  const isa::DecodedInstruction* const previous = previous_instruction(slot);
  if (previous == nullptr) return WavefrontWait::none;
  if (previous->latency == isa::LatencyClass::waitcnt) return WavefrontWait::memory;
  if (previous->latency == isa::LatencyClass::sleep) return WavefrontWait::sleep;
  return WavefrontWait::none;
}

void WavefrontInspector::observe(WavefrontSnapshot& wavefront, unsigned limit) const {
  const WavefrontSlot& slot = pool_.simds()[wavefront.simd]->slots[wavefront.slot];
  // Instructions that have executed ahead of their issue have written their results to the registers.
  const isa::DecodedInstruction* last = slot.ahead == 0 ? nullptr : slot.next;
  for (unsigned i = 1; i < slot.ahead && last != nullptr; ++i) last = code_.at(last->end);
  wavefront.observation = observe_wavefront(slot.wave, last == nullptr ? slot.wave.pc : last->end, code_, limit);
}

std::string WavefrontInspector::instruction_text(std::uint64_t pc) const {
  const isa::DecodedInstruction* const instruction = code_.at(pc);
  return instruction == nullptr ? code_.explain(pc).text : isa::disassemble(*instruction, target_);
}

void WavefrontInspector::add_resident(const Dispatch& dispatch, KernelActivity& activity) const {
  for (const auto& simd : pool_.simds()) {
    for (const WavefrontSlot& slot : simd->slots) {
      if (slot.resident && slot.activity != nullptr && slot.group->dispatch == &dispatch && slot.accounted > slot.launched)
        activity.wavefront_class(slot.wave_in_group).resident += slot.accounted.n - slot.launched.n;
    }
  }
}

}  // namespace lacuna
