// Parameters `sdma.*` and the statistics of an SDMA engine.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/sdma/sdma_packets.h"

namespace lacuna {

struct SdmaParameters {
  unsigned engines = 2;
  unsigned bytes_per_cycle = 32;
  unsigned request_bytes = 128;
  unsigned requests_in_flight = 256;
  Cycles packet_latency{100};
  Tick poll_interval{1'000'000};
  sdma::Gfx8Pitch gfx8_pitch = sdma::Gfx8Pitch::rocm;

  void describe(ParameterSection& s);
};

/// Counters, each incremented by the part of the engine that performs the counted action.
struct SdmaStatistics {
  std::uint64_t packets = 0;
  std::uint64_t copies = 0;  ///< linear and sub-window copies
  std::uint64_t fills = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t fences = 0;
  std::uint64_t traps = 0;
  std::uint64_t atomics = 0;
  std::uint64_t polls = 0;   ///< reads of memory by POLL_REGMEM
  std::uint64_t errors = 0;  ///< stopped queues
  Tick busy{};               ///< time during which packets were executed, excluding waits between polls
  void describe(StatisticsGroup& g) const;
};

}  // namespace lacuna
