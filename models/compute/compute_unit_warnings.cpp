// Reports of wavefronts that go on where a program on silicon would get other results.

#include <fmt/format.h>

#include "models/compute/compute_unit.h"

namespace lacuna {

void ComputeUnit::warn_of_fine_grained_atomic(const WavefrontSlot& slot, std::uint64_t pc, Cycles cycle) {
  const isa::Wavefront& wave = slot.wave;
  const isa::MemoryFault& first = wave.fault;
  statistics_.fine_grained_float_atomics += wave.event_value;
  if (!warned_.emplace(slot.group->dispatch->entry, pc).second) return;
  const isa::MemoryWindow window = vm_.find(first.address);
  const std::string_view memory = window.sharing == isa::Sharing::device ? "GPU" : "host";
  const bool applied = fine_grained_float_atomics_ == isa::FineGrainedFloatAtomics::apply;
  const std::string what = fmt::format(
      "float atomic of {} bytes at {:#x}, lane {} ({} of the wavefront's lanes), in fine-grained {} memory [{:#x}, {:#x}): {}",
      first.bytes, first.address, first.lane, wave.event_value, memory, window.base, window.base + window.size,
      applied ? "lost on MI200, performed here (gpu.fine_grained_float_atomics = apply)"
              : "lost, as on MI200 (gpu.fine_grained_float_atomics = drop)");
  report(ComputeUnitReport::Kind::warning, *slot.group->dispatch, clock_.ticks(cycle)).fault =
      fault_report(slot, 0, first.address, pc, what);
  reported();
}

}  // namespace lacuna
