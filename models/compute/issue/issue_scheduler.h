// Selection of the SIMD that a cycle is offered to, and of the order in which the SIMD offers it to its wavefronts.
//
// With SimdPolicy::in_turn, a SIMD is served at the rate at which its vector unit accepts instructions, every
// 64 / lanes_per_simd cycles, or every `simds` cycles if that is more frequent. Of four SIMDs with 16 lanes, one is served per
// cycle; of four SIMDs with 32 lanes, two, whose numbers differ by two.
//
// A load stage may give a wavefront precedence (IssueState::favour()): in each cycle this wavefront is considered before all
// other wavefronts of its SIMD.
//
// In a cycle of a SIMD, each unit (VALU, SALU, SMEM, VMEM, LDS, branch) accepts at most one instruction, and each wavefront
// issues at most one. Special instructions, such as waits and barriers, and instructions committed without execution do not
// occupy a unit. The compute unit determines whether a wavefront can use the cycle.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

/// Use of a cycle by a wavefront that may issue in it.
enum class CycleUse : std::uint8_t {
  none,       ///< the wavefront cannot issue
  unit,       ///< the wavefront issues to a unit, which, unless it is special, accepts no other instruction in this cycle
  committed,  ///< the instruction is committed without execution (LoadStage::commits()): its unit stays free
};

class IssueScheduler {
 public:
  IssueScheduler(const ComputeUnitParameters& parameters, WavefrontPool& pool)
      : parameters_(parameters), times_(pool.times()), count_(parameters.simds) {
    for (unsigned i = 0; i < count_; ++i) simds_[i] = pool.simds()[i].get();
  }

  /// Offers all cycles before `limit` in which a wavefront may issue. `offer(simd, slot, unit, cycle)` returns the CycleUse
  /// of the wavefront, whose next instruction is for `unit` (a bit, by isa::Unit). The call may end only this wavefront.
  template <typename Offer>
  void run(Cycles limit, Offer&& offer) {
    if (parameters_.simd_policy != SimdPolicy::in_turn) {
      run_last_served(limit, offer);
    } else if (parameters_.issue_policy == IssuePolicy::oldest) [[likely]] {
      run_in_turn<true>(limit, offer);
    } else {
      run_in_turn<false>(limit, offer);
    }
  }
  /// Returns to the initial state. Requires that no wavefront is resident.
  void reset() {
    last_served_ = 0;
    served_until_ = Cycles{};
    for (unsigned i = 0; i < count_; ++i) {
      Simd& simd = *simds_[i];
      simd.issue.last = IssueState::kMaxSlots - 1;
      simd.issue.favoured = 0;
      simd.valu_free = simd.logic_free = simd.valu_wanted = Cycles{};
      times_.set(i, kNeverCycles);
    }
  }
  /// Lower bound of the cycle in which a wavefront can issue.
  Cycles earliest() const { return times_.earliest(); }

 private:
  template <bool kOldestFirst, typename Offer>
  void run_in_turn(Cycles limit, Offer& offer) {
    for (Cycles cycle = times_.first_turn(); cycle < limit; cycle = times_.first_turn_after(cycle)) {
      times_.each_served_in(cycle, [&](unsigned simd) { serve<kOldestFirst>(*simds_[simd], cycle, offer); });
    }
  }

  // Serves a SIMD until another SIMD can issue earlier. A wavefront that waits only for the vector unit is treated as able to
  // issue, so its SIMD keeps being served.
  template <typename Offer>
  void run_last_served(Cycles limit, Offer& offer) {
    for (Cycles cycle = served_until_;;) {
      unsigned chosen = last_served_;
      for (unsigned i = 1; i < count_; ++i) {
        const unsigned number = (last_served_ + i) % count_;
        if (simds_[number]->claims(cycle) < simds_[chosen]->claims(cycle)) chosen = number;
      }
      const Cycles at = later(cycle, times_.earliest(chosen));
      if (at >= limit) return;
      last_served_ = chosen;
      serve<false>(*simds_[chosen], at, offer);
      served_until_ = cycle = at + Cycles{1};
    }
  }

  // Offers one cycle of a SIMD to its wavefronts, in the policy's order.
  template <bool kOldestFirst, typename Offer>
  [[gnu::always_inline]] inline void serve(Simd& simd, Cycles cycle, Offer& offer) {
    IssueState& state = simd.issue;
    const unsigned last = state.last;
    IssueState::Units units = state.units();
    unsigned lost = 0;  // ready ranks whose unit another wavefront has used
    bool any = false;
    bool moved = false;
    const IssueState::Ready at = state.ready_at(cycle);
    Cycles next = kNeverCycles;  // earliest next issue of the wavefronts that have been offered the cycle
    times_.begin(simd.number, at.others);
    for (unsigned ready = at.ranks; ready != 0;) {
      unsigned rank = kOldestFirst ? static_cast<unsigned>(std::countr_zero(ready)) : next_rank(state, ready, last);
      if (state.favoured != 0) [[unlikely]] {
        if (const unsigned first = ready & state.favoured_ranks(); first != 0)
          rank = static_cast<unsigned>(std::countr_zero(first));
      }
      ready &= ~(1U << rank);
      const isa::Unit unit = state.unit[rank];
      WavefrontSlot& slot = *state.slots[rank];
      [[maybe_unused]] const unsigned number = slot.number;
      const CycleUse use = offer(simd, slot, 1U << static_cast<unsigned>(unit), cycle);
      next = earlier(next, state.ready[rank]);
      if (use == CycleUse::none) continue;
      const bool takes_turn = unit != isa::Unit::special && use == CycleUse::unit;
      const unsigned losers = ready & units.that_are(unit) & (0U - unsigned{takes_turn});
      lost |= losers;
      ready ^= losers;
      if constexpr (!kOldestFirst) {  // the policy `oldest` does not read `last`
        if (!any) state.last = static_cast<std::uint8_t>(number);
        any = true;
      }
      if (state.slots[rank] != &slot) [[unlikely]] {  // the wavefront ended: younger wavefronts have moved up by a rank
        ready = (ready & ((1U << rank) - 1)) | ready >> (rank + 1) << rank;
        units = state.units();
        moved = true;
      }
    }
    // A wavefront that lost the unit in this cycle tries again at the SIMD's next turn. times_ includes wavefronts that were
    // woken during offer().
    next = earlier(moved ? state.earliest() : lost != 0 ? cycle : next, times_.earliest(simd.number));
    times_.set(simd.number, next == kNeverCycles ? next : later(next, cycle + Cycles{1}));
  }

  // Rank of the next wavefront to serve. `ready`: mask of the ranks to choose from; `last`: the slot served first in an earlier
  // cycle.
  unsigned next_rank(const IssueState& state, unsigned ready, unsigned last) const {
    const IssuePolicy policy = parameters_.issue_policy;
    if (policy == IssuePolicy::oldest) return static_cast<unsigned>(std::countr_zero(ready));
    const auto is_ready = [&](unsigned number) {
      return state.rank[number] < IssueState::kMaxSlots && (ready >> state.rank[number] & 1) != 0;
    };
    if (policy == IssuePolicy::greedy)
      return is_ready(last) ? state.rank[last] : static_cast<unsigned>(std::countr_zero(ready));
    unsigned number = (last + 1) % IssueState::kMaxSlots;
    while (!is_ready(number)) number = (number + 1) % IssueState::kMaxSlots;
    return state.rank[number];
  }

  const ComputeUnitParameters& parameters_;
  SimdTimes& times_;
  const unsigned count_;
  std::array<Simd*, SimdTimes::kMaxSimds> simds_{};
  unsigned last_served_ = 0;
  Cycles served_until_{};
};

}  // namespace lacuna
