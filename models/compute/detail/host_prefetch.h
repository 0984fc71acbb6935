// Prefetches of compute units' state to the host's caches. No simulated effect. For models/compute only.
//
// Performance notes
//   - The units of a GPU do not fit into the host's caches: between two windows most of a unit has been evicted. Windows
//     announces a unit while the one before it runs; prefetch_ready() then requests the wavefronts that can issue.
//   - Of a wavefront one line of each kind is prefetched that every issue reads (prefetch_slot()). Its registers depend on the
//     instruction: prefetch_operands() requests those of the next one while other wavefronts issue.
//   - sizeof(WavefrontSlot) is an odd number of cache lines. With an even one a member's lines of all slots share half of the
//     sets or fewer: with 56 lines, an eighth of the sets, kernels were simulated 5 to 9 % more slowly.
//   - The issue loop (IssueScheduler::serve(), ComputeUnit::offer_cycle(), issue()) is one function by force: a call per
//     instruction is measurable. Its tests go from rare to frequent conditions, and it selects by masks instead of branches
//     where the condition is the instruction's unit, which the branch predictor cannot learn.
//   - Instructions execute ahead of their issue (ComputeUnit::execute_ahead()) because the wavefront's registers are then in
//     the nearest cache; by the time they issue, other wavefronts would have evicted them.
//   - SimdTimes reads its arrays element by element: they have just been written that way, and stores of single elements are
//     not forwarded to vector loads.
//   - Windows, not a unit, is called through an interface: virtual calls are per unit and turn, none is per instruction.
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
  fetch_to_host(&slot.wave.pc);  // the line also has EXEC and the event
  fetch_to_host(&slot.lgkmcnt);
}

/// Wavefronts that can issue before `limit`, as far as that is known.
inline void prefetch_ready(const WavefrontPool& pool, Cycles limit) {
  for (const auto& simd : pool.simds()) {
    if (pool.times().earliest(simd->number) >= limit) continue;
    const IssueState& state = simd->issue;
    for (unsigned ready = state.ready_at(limit - Cycles{1}).ranks; ready != 0; ready &= ready - 1)
      prefetch_slot(*state.slots[static_cast<unsigned>(std::countr_zero(ready))]);
  }
}

/// Vector registers that an instruction reads. Other operands are prefetched as if they were: a branch would cost more.
inline void prefetch_operands(const isa::Instruction& next, const isa::Wavefront& wave) {
  constexpr unsigned kRegisters = 256;
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t* const lanes = wave.vgpr + std::size_t{next.src[i].index % kRegisters} * isa::kLanes;
    for (unsigned lane = 0; lane < isa::kLanes; lane += 16) fetch_to_host(lanes + lane);
  }
}

}  // namespace lacuna::detail
