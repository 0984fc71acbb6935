// Prefetches of compute units' state to the host's caches. They do not affect simulated results. For models/compute only.
//
// Performance notes
//   - The units of a GPU do not fit into the host's caches: between two windows most of a unit has been evicted. Windows
//     announces a unit while the previous unit runs; prefetch_ready() then requests the wavefronts that can issue.
//   - prefetch_slot() prefetches the lines of a wavefront that every issue reads. Which registers are read depends on the
//     instruction: prefetch_operands() requests those of a wavefront's next instruction while other wavefronts issue.
//   - sizeof(WavefrontSlot) is an odd number of cache lines. With an even number, the lines of one member in all slots share
//     half of the cache sets or fewer; with 56 lines (an eighth of the sets), kernels were simulated 5 to 9 % more slowly.
//   - The issue loop (IssueScheduler::serve(), ComputeUnit::offer_cycle(), issue()) is force-inlined into one function: a call
//     per instruction is measurable. The loop tests rare conditions first. Where a condition is the instruction's unit, which
//     the branch predictor cannot learn, the loop selects by masks instead of branches.
//   - Instructions execute ahead of their issue (ComputeUnit::execute_ahead()) because the wavefront's registers are then in
//     the nearest cache; by the time they issue, other wavefronts would have evicted them.
//   - SimdTimes reads its arrays element by element: they have just been written that way, and stores of single elements are
//     not forwarded to vector loads.
//   - Windows calls units through a virtual interface once per unit and turn; there are no virtual calls per instruction.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "models/common/host/host_prefetch.h"
#include "models/compute/wavefront_pool.h"
#include "models/isa/decode/instruction.h"

namespace lacuna::detail {

inline void prefetch_slot(const WavefrontSlot& slot) {
  fetch_to_host(&slot.next);
  fetch_to_host(&slot.buffer);
  fetch_to_host(&slot.wave.pc);  // this line also contains EXEC and the event
  fetch_to_host(&slot.lgkmcnt);
}

/// Prefetches the wavefronts that can issue before `limit`, as far as known.
inline void prefetch_ready(const WavefrontPool& pool, Cycles limit) {
  for (const auto& simd : pool.simds()) {
    if (pool.times().earliest(simd->number) >= limit) continue;
    const IssueState& state = simd->issue;
    for (unsigned ready = state.ready_at(limit - Cycles{1}).ranks; ready != 0; ready &= ready - 1)
      prefetch_slot(*state.slots[static_cast<unsigned>(std::countr_zero(ready))]);
  }
}

/// Prefetches the vector registers that an instruction reads. Scalar operands are treated alike: a branch would cost more.
inline void prefetch_operands(const isa::Instruction& next, const isa::Wavefront& wave) {
  constexpr unsigned kRegisters = 256;
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t* const lanes = wave.vgpr + std::size_t{next.src[i].index % kRegisters} * isa::kLanes;
    for (unsigned lane = 0; lane < isa::kLanes; lane += 16) fetch_to_host(lanes + lane);
  }
}

}  // namespace lacuna::detail
