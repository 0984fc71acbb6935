// When a DRAM channel's commands can be issued: banks, groups, buses, refresh and turnaround by reservation. No SystemC, no
// data.
//
// A request's commands are booked when it arrives, at the earliest cycles that all constraints and all earlier bookings allow.
// Bookings leave gaps and later requests fill them, which is what a first-ready scheduler does with the commands in its queue:
// a ready bank goes before one that waits. Two more of its rules are explicit: a request whose row is open at that time is
// served before the precharge that is already booked for another, and only `read_queue` reads are in the scheduler at once.
// With
// `scheduler = fcfs` the commands of a read come after the column command of the one before, in each pseudo channel.
//
//   read on an idle channel, arrival to last data:
//     row open       tCL + burst
//     no row open    activate_cycles - 1 + tRCDRD + tCL + burst
//     another row    tRP + tRCDRD + tCL + burst
//
// Writes are posted. They gather until there are `write_drain` of a pseudo channel (or until one has waited write_idle cycles),
// then the data bus turns round once and carries them all. Refresh: all banks of a pseudo channel every tREFI, when the open
// rows allow a precharge, for tRP + tRFC; it closes the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/calendar.h"
#include "models/common/slot_calendar.h"
#include "models/common/units.h"
#include "models/dram/address_map.h"
#include "models/dram/dram_parameters.h"

namespace lacuna {

class DramSchedule {
 public:
  /// std::invalid_argument when the organization makes no sense.
  explicit DramSchedule(const DramParameters& parameters);

  struct Read {
    Tick done;     ///< the last byte is on the bus
    Tick waiting;  ///< of the time since arrival, for the queue, other requests and refresh
  };
  /// `address` in the channel, `at` the arrival at the controller.
  Read read(std::uint64_t address, unsigned length, Tick at);
  /// Returns when the write queue has taken it.
  Tick write(std::uint64_t address, unsigned length, Tick at);

  void retire(Tick horizon);
  /// Forgets open rows and what is in flight.
  void reset();
  /// reads, bytes, latency and errors are the caller's to count.
  DramStatistics& statistics() { return statistics_; }
  const DramStatistics& statistics() const { return statistics_; }

 private:
  using Cycle = std::uint64_t;
  static constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

  struct Bank {
    std::uint64_t row = kNoRow;
    Cycle ready_read = 0;  // the open row takes column commands from here on
    Cycle ready_write = 0;
    Cycle precharge = 0;         // earliest
    Cycle activate = 0;          // earliest, counted at the command's last cycle
    std::uint64_t interval = 0;  // of refresh, in which the row was opened
    // The row before: open until `closes`, which is booked.
    std::uint64_t former_row = kNoRow;
    Cycle former_ready = 0;
    Cycle former_closes = 0;
  };
  struct Group {
    SlotCalendar columns;
    SlotCalendar activates;
  };
  struct PendingWrite {
    std::uint64_t burst;
    DramLocation location;
    Cycle accepted;
  };
  struct PseudoChannel {
    SlotCalendar data;
    SlotCalendar activates;
    PoolCalendar activate_window{4};
    std::uint64_t refreshed = 0;  // the last refresh interval that began
    Cycle refresh_end = 0;        // of its refresh
    Cycle next_column = 0;        // after the latest column command
    Cycle last_precharge = 0;     // latest `precharge` of its banks
    std::vector<PendingWrite> writes{};
  };
  struct Place {
    PseudoChannel& pseudo;
    Group& group;
    Bank& bank;
  };

  Place place(const DramLocation& location);
  /// Books what it takes to open the row; returns the earliest column command.
  Cycle open_row(const Place& place, std::uint64_t row, Cycle at, bool write);
  Cycle find_activate(const Place& place, Cycle from);
  Cycle find_column(const Place& place, Cycle from);
  void book_column(const Place& place, Cycle cycle);
  /// Column command of a read burst; `prepared` becomes the unloaded preparation that it needed.
  Cycle read_column(const DramLocation& location, Cycle at, Cycle& prepared);
  void column_done(const Place& place, Cycle earliest_precharge);
  /// The refresh interval that a cycle lies in; 0 without refresh.
  std::uint64_t interval_of(Cycle cycle) {
    if (cycle - interval_begin_ >= interval_length_) [[unlikely]] {
      if (parameters_.tREFI.n == 0) return 0;
      interval_ = cycle / parameters_.tREFI.n;
      interval_begin_ = interval_ * parameters_.tREFI.n;
    }
    return interval_;
  }
  /// End of the refresh that began interval `interval`.
  Cycle refresh_end(PseudoChannel& pseudo, std::uint64_t interval);
  void drain(PseudoChannel& pseudo, Cycle at);
  void drain_idle(Cycle at);
  Tick time(Cycle cycle) const { return clock_.ticks({cycle}); }

  const DramParameters parameters_;
  const Clock clock_;
  const DramAddressMap map_;
  const unsigned burst_shift_;  // log2 of the bytes of a burst
  const Cycle burst_;
  const Cycle column_gap_;    // between column commands of a pseudo channel
  const Cycle before_write_;  // bubble between read and write commands
  const Cycle after_write_;
  std::vector<PseudoChannel> pseudo_channels_;
  std::vector<Group> groups_;
  std::vector<Bank> banks_;
  SlotCalendar row_bus_;
  SlotCalendar column_bus_;
  PoolCalendar read_queue_;
  PoolCalendar write_queue_;
  // The interval that was asked for last.
  const Cycle interval_length_;
  std::uint64_t interval_ = 0;
  Cycle interval_begin_ = 0;
  std::vector<PendingWrite> batch_;  // of the drain at work: kept to avoid allocations
  DramStatistics statistics_;
};

}  // namespace lacuna
