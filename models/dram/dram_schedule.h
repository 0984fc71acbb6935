// Computes the times of a DRAM channel's requests: banks, groups, buses, refresh and turnaround. No SystemC, no data.
//
// A controller's decisions depend on requests that arrive later, so a request's time is known only after all requests that may
// change it have arrived. There are two interfaces:
//   - read_later() and write_later() pass a request to the command scheduler (models/dram/command_scheduler.h), which decides
//     as a controller does, cycle for cycle. The caller of decide() passes the time up to which all requests are known,
//     and receives the times of the decided requests.
//   - read() and write() are for callers that cannot wait: they return a forecast (models/dram/read_forecast.h) from decided
//     commands and waiting requests. The error of past forecasts (delay caused by writes and later reads) is spread over the
//     following reads, so that the sum of forecast times equals the sum of served times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/common/time/units.h"
#include "models/dram/address_map.h"
#include "models/dram/command_scheduler.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/read_forecast.h"
#include "models/dram/refresh_times.h"

namespace lacuna {

class DramSchedule {
 public:
  /// Throws std::invalid_argument if a count is not a power of two, or if the row size, the address map, the watermarks of
  /// writes or the times of refresh contradict other parameters.
  explicit DramSchedule(const DramParameters& parameters, DramChannelPlace place = {});
  DramSchedule(const DramSchedule&) = delete;
  DramSchedule& operator=(const DramSchedule&) = delete;

  struct Read {
    Tick done;     ///< end of the last byte's transfer on the data bus
    Tick waiting;  ///< part of the time since arrival spent waiting for the queue, other requests and refresh
  };
  /// Forecasts a read. `address`: address in the channel; `at`: arrival at the controller.
  Read read(std::uint64_t address, unsigned length, Tick at);
  /// Adds a read. decide() reports its time later, with `number`.
  void read_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number);
  struct Completion {
    std::uint32_t number;
    Read read;
  };
  /// Decides the commands before `until`; no further request may arrive before `until`. Appends to `completed` the requests of
  /// read_later() and write_later() that are decided, in the order of decisions. A read is done answer_time() after its column
  /// command.
  void decide(Tick until, std::vector<Completion>& completed);
  /// Time from a read's column command to the end of its data.
  Tick answer_time() const { return time(data_); }
  /// The earliest `until` for which decide() can decide something if no further request arrives; kNever: no request waits.
  Tick next_decision();
  /// Adds a write. Returns the time at which the write queue accepts it, if already known; otherwise decide() reports that time
  /// later, with `number`.
  std::optional<Tick> write_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number);
  /// Adds a write. Returns the forecast time at which the write queue accepts it.
  Tick write(std::uint64_t address, unsigned length, Tick at);

  /// Decides the commands before `horizon` and drops earlier bookings: later calls concern later times only.
  void retire(Tick horizon);
  /// Decides all waiting requests; no further requests arrive.
  void finish() { commands_.finish(); }
  /// Drops open rows and requests in flight.
  void reset();
  /// Statistics of the channel, in which the caller counts transactions, bytes, write stalls, read latency and errors.
  DramStatistics& statistics() { return statistics_; }
  const DramStatistics& statistics() const { return statistics_; }

 private:
  using Cycle = std::uint64_t;

  /// A request that is not completely decided.
  struct Pending {
    std::uint32_t number = 0;
    unsigned remaining = 0;  // number of bursts that are not decided
    bool write = false;
    Tick at{};           // arrival at the controller
    Cycle done = 0;      // completion of the bursts that are decided
    Cycle prepared = 0;  // time of the request's slowest burst on an idle channel
    Cycle unloaded = 0;  // transfer time of the bursts that follow the slowest one
  };
  void complete(const Pending& pending, std::vector<Completion>& completed);

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
  const Cycle data_;  // cycles from a read's column command to the end of its data
  const Tick burst_time_;
  const RefreshTimes refresh_;
  DramStatistics statistics_;
  // Statistics counter of each first command that a read may need, and cycles from that command to the column command on an
  // idle channel.
  const std::array<std::uint64_t*, 4> rows_found_;
  const std::array<Cycle, 4> prepared_;
  CommandScheduler commands_;
  ReadForecast forecast_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<Completion> forwarded_;  // reads forwarded from queued writes since the last decide()
};

}  // namespace lacuna
