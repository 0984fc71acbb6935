#include "models/compute/windows.h"

#include <algorithm>

#include "models/common/retirement.h"
#include "models/common/tlm_time.h"
#include "models/compute/compute_unit.h"

namespace lacuna {
namespace {

// Units of a group take turns of so many cycles: they meet in their caches in nearly the order of simulated time, and the host
// does not change between their states in every cycle.
constexpr Cycles kTurn{8};
constexpr Cycles kFunctionalLength{10'000};
constexpr Cycles kRetireCycles{512};

}  // namespace

Windows::Windows(sc_core::sc_module_name name, Clock clock, TimingMode mode, Cycles length)
    : sc_module(name),
      clock_(clock),
      timed_(mode != TimingMode::functional),
      length_(timed_ ? later(length, Cycles{1}) : kFunctionalLength),
      wake_("wake") {
  SC_HAS_PROCESS(Windows);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void Windows::add_group(std::vector<ComputeUnit*> units) {
  for (ComputeUnit* unit : units) unit->attach(*this);
  groups_.push_back(std::move(units));
}

void Windows::reset() {
  wake_.cancel();
  end_ = Cycles{};
  next_retire_ = Tick{};
}

void Windows::wake(Cycles at) {
  const Tick now = to_tick(sc_core::sc_time_stamp());
  wake_.notify(to_sc_time(later(clock_.ticks(later(at, end_)), now) - now));
}

void Windows::run() {
  const Tick now = to_tick(sc_core::sc_time_stamp());
  const Cycles begin = later(clock_.ceil(now), end_);
  end_ = begin + length_;
  retire(now);
  for (const auto& group : groups_) run_group(group, begin);
  if (edge_ != nullptr) edge_->settle(clock_.ticks(end_));
  Cycles next = edge_ != nullptr && edge_->next() != kNever ? clock_.floor(edge_->next()) : kNeverCycles;
  for (const auto& group : groups_) {
    for (const ComputeUnit* unit : group) next = std::min(next, unit->earliest());
  }
  if (next != kNeverCycles) wake(next);
}

void Windows::run_group(const std::vector<ComputeUnit*>& group, Cycles begin) {
  if (!timed_ || group.size() == 1) {
    for (ComputeUnit* unit : group) {
      if (unit->earliest() < end_) unit->run(end_);
    }
    return;
  }
  busy_.clear();
  for (ComputeUnit* unit : group) {
    if (unit->earliest() < end_) busy_.push_back(unit);
  }
  // One that has nothing left to do in the window is not woken by the others.
  for (Cycles until = begin; !busy_.empty() && until < end_;) {
    until = std::min(until + kTurn, end_);
    std::erase_if(busy_, [&](ComputeUnit* unit) {
      if (unit->earliest() < until) unit->run(until);
      return unit->earliest() >= end_;
    });
  }
}

void Windows::retire(Tick now) {
  if (now < next_retire_) return;
  next_retire_ = now + clock_.ticks(kRetireCycles);
  const Tick horizon = retirement_horizon(now);
  if (edge_ != nullptr) edge_->retire(horizon);
  for (const auto& group : groups_) {
    for (ComputeUnit* unit : group) unit->retire(horizon);
  }
}

}  // namespace lacuna
