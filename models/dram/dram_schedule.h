// When a DRAM channel's requests are served: banks, groups, buses, refresh and turnaround. No SystemC, no data.
//
// Requests may come in another order than that of their arrival, and a read is told when its data are there as soon as it is
// made. A controller cannot know that: which commands it issues depends on what comes later. So there are two parts.
//   - The command scheduler (models/dram/command_scheduler.h) does what the controller does, in the order of time, up to the
//     horizon before which no more requests come.
//   - The forecast (models/dram/read_forecast.h) tells a read its time from what is decided and what waits.
// By how much reads were served later than forecast, which is what writes and later reads took from them, the next reads are
// told instead, each a part. Over all reads both sums are the same.
//
// For single reads the forecast is still too early when writes go first. A requester that acts on it issues reads which
// hardware would hold back until earlier reads have completed; where that is certain, the read arrives at their completion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/units.h"
#include "models/dram/address_map.h"
#include "models/dram/command_scheduler.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/read_forecast.h"
#include "models/dram/refresh_times.h"

namespace lacuna {

class DramSchedule {
 public:
  /// `reads_in_flight`: bursts that all requesters together wait for at most, as many as they have MSHRs; 0: as many as the
  /// read queue holds. std::invalid_argument when a count is no power of two, or the row size, the
  /// address map, the watermarks of writes or the times of refresh contradict the others.
  explicit DramSchedule(const DramParameters& parameters, DramChannelPlace place = {}, std::size_t reads_in_flight = 0);
  DramSchedule(const DramSchedule&) = delete;
  DramSchedule& operator=(const DramSchedule&) = delete;

  struct Read {
    Tick done;     ///< the last byte is on the bus
    Tick waiting;  ///< of the time since arrival, for the queue, other requests and refresh
  };
  /// `address` in the channel, `at` the arrival at the controller.
  Read read(std::uint64_t address, unsigned length, Tick at);
  /// Returns when the write queue has taken it.
  Tick write(std::uint64_t address, unsigned length, Tick at);

  /// No later call will ask for a time before `horizon`: decides what is done by then.
  void retire(Tick horizon);
  /// Decides what still waits: no requests will come.
  void finish() { commands_.finish(); }
  /// Forgets open rows and what is in flight.
  void reset();
  /// reads, bytes, latency and errors are the caller's to count.
  DramStatistics& statistics() { return statistics_; }
  const DramStatistics& statistics() const { return statistics_; }

 private:
  using Cycle = std::uint64_t;

  CommandScheduler::Burst locate(std::uint64_t burst) const {
    const DramAddressMap::Bank at = map_.bank_of(burst);
    return {burst, at.row, at.number};
  }
  Tick time(Cycle cycle) const { return clock_.ticks({cycle}); }

  const DramParameters parameters_;
  const Clock clock_;
  const DramAddressMap map_;
  const unsigned burst_shift_;  // log2 of the bytes of a burst
  const unsigned pseudo_bits_;
  const Cycle burst_;
  const Cycle data_;  // from a read's column command to its last data
  const Tick burst_time_;
  const RefreshTimes refresh_;
  DramStatistics statistics_;
  const std::array<std::uint64_t*, 4> rows_found_;  // how many, by the command that a read needs first
  CommandScheduler commands_;
  ReadForecast forecast_;
};

}  // namespace lacuna
