// When a DRAM channel's requests are served: banks, groups, buses, refresh and turnaround. No SystemC, no data.
//
// What a controller does depends on requests that come later, so that a request's time is known only when all have come that
// may change it. There are two ways to ask.
//   - read_later() and write_later() give a request to the command scheduler (models/dram/command_scheduler.h), which does what
//     a controller does, cycle for cycle; decide() says how far requests have come, and brings the times.
//   - read() and write() are for callers that cannot wait: they return a forecast (models/dram/read_forecast.h) from what is
//     decided and what waits. By how much such reads were served later than forecast is added to the next ones, a part to each:
//     over all of them both sums are the same.
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
  /// std::invalid_argument when a count is no power of two, or the row size, the address map, the watermarks of writes or the
  /// times of refresh contradict the others.
  explicit DramSchedule(const DramParameters& parameters, DramChannelPlace place = {});
  DramSchedule(const DramSchedule&) = delete;
  DramSchedule& operator=(const DramSchedule&) = delete;

  struct Read {
    Tick done;     ///< the last byte is on the bus
    Tick waiting;  ///< of the time since arrival, for the queue, other requests and refresh
  };
  /// `address` in the channel, `at` the arrival at the controller.
  Read read(std::uint64_t address, unsigned length, Tick at);
  /// A read whose time is decided later: decide() gives it under `number`.
  void read_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number);
  struct Completion {
    std::uint32_t number;
    Read read;
  };
  /// Decides the commands before `until`, before which no more requests come. Appends what has become known of requests of
  /// read_later() and write_later() to `completed`, in the order of decisions. A read is done answer_time() after its own.
  void decide(Tick until, std::vector<Completion>& completed);
  /// From a read's column command to its last byte.
  Tick answer_time() const { return time(data_); }
  /// decide() brings nothing for less than this if no other request comes; kNever: nothing waits.
  Tick next_decision();
  /// A write. Returns when the write queue takes it when that is known; otherwise decide() gives it under `number`.
  std::optional<Tick> write_later(std::uint64_t address, unsigned length, Tick at, std::uint32_t number);
  /// Returns when the write queue takes it, as forecast.
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

  /// A request of which something is to be decided.
  struct Pending {
    std::uint32_t number = 0;
    unsigned remaining = 0;  // bursts
    bool write = false;
    Tick at{};
    Cycle done = 0;  // of the bursts that are decided
    // What they would take on an idle channel: the slowest of them, and behind it the others.
    Cycle prepared = 0;
    Cycle unloaded = 0;
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
  const Cycle data_;  // from a read's column command to its last data
  const Tick burst_time_;
  const RefreshTimes refresh_;
  DramStatistics statistics_;
  // By the command that a read needs first: how many, and from there to its column command on an idle channel.
  const std::array<std::uint64_t*, 4> rows_found_;
  const std::array<Cycle, 4> prepared_;
  CommandScheduler commands_;
  ReadForecast forecast_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<Completion> forwarded_;  // answered by writes that wait, since the last decide()
};

}  // namespace lacuna
