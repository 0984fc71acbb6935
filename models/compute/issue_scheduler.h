// Which SIMD a cycle is offered to, and in which order that SIMD offers it to its wavefronts.
//
// In a cycle of a SIMD each unit (VALU, SALU, SMEM, VMEM, LDS, branch, special) takes at most one instruction and each
// wavefront gives at most one. Whether a wavefront can use the cycle is the compute unit's affair.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

class IssueScheduler {
 public:
  IssueScheduler(const ComputeUnitParameters& parameters, std::vector<std::unique_ptr<Simd>>& simds)
      : parameters_(parameters), simds_(simds) {}

  /// Offers all cycles before `limit` in which a wavefront may issue. `offer(simd, slot, unit, cycle)`: whether the
  /// wavefront, whose next instruction is for `unit` (a bit, by isa::Unit), takes the cycle. It may end, no other one does.
  template <typename Offer>
  void run(Cycles limit, Offer&& offer) {
    if (parameters_.simd_policy == SimdPolicy::in_turn) {
      run_in_turn(limit, offer);
    } else {
      run_last_served(limit, offer);
    }
  }
  /// As new; no wavefront is resident.
  void reset() {
    last_served_ = 0;
    served_until_ = Cycles{};
    for (const auto& simd : simds_) {
      simd->issue.last = IssueState::kMaxSlots - 1;
      simd->valu_free = simd->valu_wanted = Cycles{};
      simd->earliest = kNeverCycles;
    }
  }
  /// No wavefront can issue before.
  Cycles earliest() const {
    Cycles first = kNeverCycles;
    for (const auto& simd : simds_) first = simd->earliest < first ? simd->earliest : first;
    return first;
  }

 private:
  // The number of SIMDs is a power of two.
  template <typename Offer>
  void run_in_turn(Cycles limit, Offer& offer) {
    const std::size_t simds = simds_.size();
    std::size_t passed = 0;  // since the last cycle that was served
    for (Cycles cycle = earliest(); cycle < limit;) {
      Simd& simd = *simds_[cycle.n & (simds - 1)];
      if (simd.earliest <= cycle) {
        serve(simd, cycle, offer);
        passed = 0;
      } else if (++passed == simds) {
        // Nobody is due yet: the next one's turn comes at its earliest cycle or up to a round later.
        cycle = later(cycle + Cycles{1}, earliest());
        passed = 0;
        continue;
      }
      cycle += Cycles{1};
    }
  }

  // A SIMD whose wavefronts wait for its vector unit keeps the others from being served.
  template <typename Offer>
  void run_last_served(Cycles limit, Offer& offer) {
    const auto simds = static_cast<unsigned>(simds_.size());
    for (Cycles cycle = served_until_;;) {
      unsigned chosen = last_served_;
      for (unsigned i = 1; i < simds; ++i) {
        const unsigned number = (last_served_ + i) % simds;
        if (simds_[number]->claims(cycle) < simds_[chosen]->claims(cycle)) chosen = number;
      }
      const Cycles at = later(cycle, simds_[chosen]->earliest);
      if (at >= limit) return;
      last_served_ = chosen;
      serve(*simds_[chosen], at, offer);
      served_until_ = cycle = at + Cycles{1};
    }
  }

  // One cycle of one SIMD, offered in the policy's order. The loop of every instruction: a call would show.
  template <typename Offer>
  [[gnu::always_inline]] inline void serve(Simd& simd, Cycles cycle, Offer& offer) {
    constexpr unsigned kWithoutLimit = 1U << static_cast<unsigned>(isa::Unit::special);
    IssueState& state = simd.issue;
    const IssuePolicy policy = parameters_.issue_policy;
    const unsigned last = state.last;
    unsigned used = 0;
    bool any = false;
    for (unsigned ready = state.ready_at(cycle); ready != 0;) {
      const unsigned rank = policy == IssuePolicy::oldest ? static_cast<unsigned>(std::countr_zero(ready))
                                                          : next_rank(state, ready, policy, last);
      ready &= ~(1U << rank);
      const unsigned unit = 1U << static_cast<unsigned>(state.unit[rank]);
      if ((used & unit) != 0) continue;
      WavefrontSlot& slot = *state.slots[rank];
      const unsigned number = slot.number;
      const unsigned resident = state.resident;
      if (!offer(simd, slot, unit, cycle)) continue;
      used |= unit & ~kWithoutLimit;
      if (!any) state.last = static_cast<std::uint8_t>(number);
      any = true;
      if (state.resident != resident) [[unlikely]]  // those behind the one that ended have moved up
        ready = (ready & ((1U << rank) - 1)) | ready >> (rank + 1) << rank;
    }
    // A wavefront that lost this cycle's port is ready in the past: it tries again at the SIMD's next turn.
    const Cycles earliest = state.earliest();
    simd.earliest = earliest == kNeverCycles ? earliest : later(earliest, cycle + Cycles{1});
  }

  // Of those that are left, for policies other than the oldest first. `last`: the slot served first in an earlier cycle.
  static unsigned next_rank(const IssueState& state, unsigned ready, IssuePolicy policy, unsigned last) {
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
  std::vector<std::unique_ptr<Simd>>& simds_;
  unsigned last_served_ = 0;
  Cycles served_until_{};
};

}  // namespace lacuna
