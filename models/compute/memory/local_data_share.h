// The LDS of a compute unit as a resource: an access occupies it for the cycles that its lanes' banks need
// (models/compute/memory/lds_banks.h); the data are available lds_latency later. WavefrontPool holds the bytes themselves.
#pragma once

#include <algorithm>

#include "models/common/time/calendar.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/issue/lds_transfers.h"
#include "models/compute/issue/wait_counter.h"
#include "models/compute/memory/lds_banks.h"
#include "models/isa/analysis/register_masks.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

class LocalDataShare {
 public:
  struct Result {
    Cycles done;
    OperationDelays delays;
  };

  /// `banks` is shared by all units of a group.
  LocalDataShare(const ComputeUnitParameters& parameters, Clock clock, LdsBanks& banks)
      : parameters_(parameters), clock_(clock), banks_(banks) {}

  /// Cycles of an instruction's access with the given byte offsets of the lanes. The instruction's address selects an entry of
  /// the cache of known patterns.
  LdsCycles cycles(const isa::MemoryAccess& access, const LdsBanks::Offsets& offsets,
                   const isa::DecodedInstruction& instruction) {
    auto least = static_cast<std::uint16_t>(parameters_.lds_cycles.n);
    if (parameters_.lds_transfers && instruction.unit == isa::Unit::lds) {
      const unsigned half_pass = std::max(1U, isa::kLanes / parameters_.lanes_per_simd / 2);
      least = std::max(least, static_cast<std::uint16_t>(half_pass * lds_transfers(instruction)));
    }
    if (access.bytes_per_lane == 0 || !parameters_.lds_conflicts) return {.busy = least, .conflicts = 0};
    const std::uint64_t lanes = access.space == isa::MemoryAccess::Space::lds ? access.lanes : access.lds_lanes;
    LdsCycles cycles = banks_.cycles(access, offsets, lanes, instruction.end);
    cycles.busy = std::max(cycles.busy, least);
    return cycles;
  }
  /// Performs an access that takes `cycles`, from `cycle` on.
  Result access(LdsCycles cycles, Cycles cycle) {
    conflict_cycles_ += cycles.conflicts;
    busy_cycles_ += cycles.busy;
    // The port is booked only in whole cycles.
    const Cycles start = clock_.starting_at(port_.reserve(clock_.ticks(cycle), clock_.period() * cycles.busy));
    const OperationDelays delays{.lds_conflict = OperationDelays::saturated((start - cycle).n + cycles.conflicts)};
    return {start + Cycles{cycles.busy} + parameters_.lds_latency, delays};
  }
  const std::uint64_t& conflict_cycles() const { return conflict_cycles_; }
  /// Cycles for which instructions have occupied the LDS.
  std::uint64_t busy_cycles() const { return busy_cycles_; }
  void retire(Tick horizon) { port_.retire(horizon); }
  void reset() { port_.reset(); }

 private:
  const ComputeUnitParameters& parameters_;
  Clock clock_;
  LdsBanks& banks_;
  Calendar port_;
  std::uint64_t conflict_cycles_ = 0;
  std::uint64_t busy_cycles_ = 0;
};

}  // namespace lacuna
