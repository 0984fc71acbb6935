// Stores and atomics of a core into the workspaces of running convolutions.
//
// A store of any kernel that runs on the core drops all entries of the convolutions whose workspaces it changes: an entry's tag
// identifies only the first element of its tile. An atomic is performed at the end of its window, and so are all later loads of
// the lines that it changes; until then these loads are not looked up, so that no entry gets the old data. Stores of other
// cores, copies by copy engines and writes by the host are not observed: their data are seen after an invalidation.

#include <algorithm>

#include "models/duplo/detection_unit.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {

bool DetectionUnit::changes(const ActiveConvolution& c, const isa::MemoryAccess& access) const {
  if (c.lds) return false;
  const auto inside = [&](std::uint64_t address) { return address + access.bytes_per_lane > c.begin && address < c.end; };
  if (access.space == isa::MemoryAccess::Space::scalar) return inside(access.scalar_address);
  bool any = false;
  isa::for_lanes(access.lanes, [&](unsigned lane) { any |= inside(memory_.addresses().global[lane]); });
  return any;
}

// Convolutions are visited in the order of their numbers, which does not depend on the host.
void DetectionUnit::stored(const WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  if (convolutions_.empty()) return;
  changed_.clear();
  for (const auto& [dispatch, convolution] : convolutions_) {
    if (changes(*convolution, slot.wave.access)) changed_.push_back(convolution->number);
  }
  std::sort(changed_.begin(), changed_.end());
  for (const std::uint8_t number : changed_) {
    ConvolutionFindings& findings = findings_[number];
    findings.dropped += history_.drop(number, clock_.ticks(cycle));
    count_released(&slot);
    if (findings.store) continue;
    findings.store = WorkspaceStore{.kernel = slot.group->dispatch->kernel,
                                    .at = clock_.ticks(cycle),
                                    .pc = instruction.end - instruction.size,
                                    .workgroup = slot.group->linear_id,
                                    .wavefront = slot.wave_in_group};
  }
}

}  // namespace lacuna
