// Parameters `cp.*` and statistics `cp` of the packet processor and its parts.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"

namespace lacuna {

struct PacketProcessorParameters {
  unsigned queue_slots = 8;
  unsigned dispatches_in_flight = 8;
  Cycles packet_latency{100};
  Cycles launch_latency{0};
  bool cold_dispatch = false;
  bool flush_before_dispatch = false;
  Tick poll_interval{1'000'000};
  bool instant_blits = false;
  Cycles start_phase{0};  ///< delay of a dispatch, added to packet_latency (parameter gpu.start_phase)

  void describe(ParameterSection& s);
};

/// Counters, each incremented by the part that performs the counted action.
struct PacketProcessorStatistics {
  std::uint64_t dispatches = 0;
  std::uint64_t blits = 0;
  std::uint64_t bulk_blits = 0;
  std::uint64_t barriers = 0;
  std::uint64_t pm4_packets = 0;
  std::uint64_t scratch_requests = 0;
  std::uint64_t queue_errors = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t signals = 0;
  std::uint64_t events = 0;
  std::uint64_t acquires = 0;
  std::uint64_t releases = 0;
  void describe(StatisticsGroup& g) const;
};

}  // namespace lacuna
