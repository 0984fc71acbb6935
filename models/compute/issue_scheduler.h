// Which SIMD a cycle is offered to, and in which order that SIMD offers it to its wavefronts.
//
// In a cycle of a SIMD each unit (VALU, SALU, SMEM, VMEM, LDS, branch, special) takes at most one instruction and each
// wavefront gives at most one. Whether a wavefront can use the cycle is the compute unit's affair.
#pragma once

#include <memory>
#include <vector>

#include "models/compute/compute_unit_parameters.h"
#include "models/compute/wavefront_pool.h"

namespace lacuna {

class IssueScheduler {
 public:
  IssueScheduler(const ComputeUnitParameters& parameters, std::vector<std::unique_ptr<Simd>>& simds)
      : parameters_(parameters), simds_(simds) {}

  /// Offers all cycles before `limit` in which a wavefront may issue. `offer(simd, slot number, cycle, used)`: whether the
  /// wavefront takes the cycle; `used` holds the units that are taken in it, bit by isa::Unit.
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
  static constexpr unsigned kNobody = ~0U;

  /// The first cycle at or after `from` in which SIMD `simd` of `simds`, a power of two, is served.
  static Cycles next_turn(Cycles from, unsigned simd, unsigned simds) { return {from.n + ((simd - from.n) & (simds - 1))}; }

  template <typename Offer>
  void run_in_turn(Cycles limit, Offer& offer) {
    const unsigned simds = parameters_.simds;
    for (Cycles cycle{};;) {
      Cycles best = limit;
      Simd* chosen = nullptr;
      for (const auto& simd : simds_) {
        if (simd->earliest >= best) continue;
        const Cycles turn = next_turn(later(cycle, simd->earliest), simd->number, simds);
        if (turn < best) {
          best = turn;
          chosen = simd.get();
        }
      }
      if (chosen == nullptr) return;
      serve(*chosen, best, offer);
      cycle = best + Cycles{1};
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

  // One cycle of one SIMD, offered in the policy's order.
  template <typename Offer>
  void serve(Simd& simd, Cycles cycle, Offer& offer) {
    IssueState& state = simd.issue;
    unsigned used = 0;
    unsigned first = kNobody;
    unsigned ready = state.ready_at(cycle);
    const auto offer_to = [&](unsigned number) {
      if ((ready >> number & 1) == 0) return;
      ready &= ~(1U << number);
      // A fault may have ended all wavefronts meanwhile.
      if (state.ready[number] > cycle || !offer(simd, number, cycle, used)) return;
      if (first == kNobody) first = number;
    };
    switch (parameters_.issue_policy) {
      case IssuePolicy::round_robin:
        for (unsigned i = 1; i <= IssueState::kMaxSlots && ready != 0; ++i) offer_to((state.last + i) % IssueState::kMaxSlots);
        break;
      case IssuePolicy::greedy:
        offer_to(state.last);
        [[fallthrough]];
      case IssuePolicy::oldest: {
        // Wavefronts that end leave the list while it is walked.
        const auto order = state.by_age;
        for (unsigned i = 0; i < IssueState::kMaxSlots && ready != 0; ++i) offer_to(order[i]);
        break;
      }
    }
    if (first != kNobody) state.last = static_cast<std::uint8_t>(first);
    // A wavefront that lost this cycle's port is ready in the past: it tries again at the SIMD's next turn.
    const Cycles earliest = state.earliest();
    simd.earliest = earliest == kNeverCycles ? earliest : later(earliest, cycle + Cycles{1});
  }

  const ComputeUnitParameters& parameters_;
  std::vector<std::unique_ptr<Simd>>& simds_;
  unsigned last_served_ = 0;
  Cycles served_until_{};
};

}  // namespace lacuna
