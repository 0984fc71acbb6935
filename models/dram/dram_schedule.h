// When a DRAM channel's commands can be issued: banks, groups, buses, refresh and turnaround by reservation. No SystemC, no
// data.
//
// A request's commands are booked when it is made, at the earliest cycles that all constraints and all earlier bookings allow;
// its data are promised then. Bookings leave gaps and later requests fill them, which is what a first-ready scheduler does with
// the commands in its queue: a ready bank goes before one that waits. Three more of its rules are explicit:
//   - A request whose row is open when it arrives, or will be opened for an older request, is served before the row closes:
//     what is booked behind it in the bank moves back (models/dram/bank_timeline.h).
//   - Only `read_queue` reads are in the scheduler at once.
//   - Writes are posted. They gather until there are `write_drain` of a pseudo channel (or until one has waited write_idle
//     cycles); then they go before all reads. The data bus turns round once for those whose rows can be open in time.
// A bus cycle that is booked is never lost: a burst takes the next free cycles of its buses, wherever they lie (SlotCalendar::
// take). So the buses carry what they can carry, although requests are booked in another order than they arrive in.
// With `scheduler = fcfs` the commands of a read come after the column command of the one before, in each pseudo channel.
//
//   read on an idle channel, arrival to last data:
//     row open       tCL + burst
//     no row open    activate_cycles - 1 + tRCDRD + tCL + burst
//     another row    tRP + tRCDRD + tCL + burst
//
// Refresh: all banks of a pseudo channel at every multiple of tREFI, when the rows may be closed, for tRP + tRFC. What has not
// been read by then opens its row once more.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/calendar.h"
#include "models/common/slot_calendar.h"
#include "models/common/units.h"
#include "models/dram/address_map.h"
#include "models/dram/bank_timeline.h"
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

  /// No later call will ask for a time before `horizon`: drops what is past, and writes what has waited for long.
  void retire(Tick horizon);
  /// Forgets open rows and what is in flight.
  void reset();
  /// reads, bytes, latency and errors are the caller's to count.
  DramStatistics& statistics() { return statistics_; }
  const DramStatistics& statistics() const { return statistics_; }

 private:
  using Cycle = std::uint64_t;

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
    SlotCalendar writing;  // what drains take of it
    SlotCalendar activates;
    PoolCalendar activate_window{4};
    std::uint64_t refreshes = 0;         // that have begun
    Cycle refresh_waits = 0;             // the last of them, for rows to close
    std::uint64_t refreshes_booked = 0;  // on the data bus
    Cycle quiet_from = 0;                // from the refresh that was met last ...
    Cycle quiet = 0;                     // so many cycles to the next
    Cycle last_activate = 0;
    Cycle next_column = 0;  // after the latest column command
    std::vector<PendingWrite> writes{};
    std::uint64_t written = 0;  // bit b mod 64 is set for every burst b among them
  };
  struct Place {
    PseudoChannel& pseudo;
    Group& group;
    BankTimeline& bank;
  };
  struct Written {
    Cycle accepted;
    Cycle column;
  };
  struct PlannedWrite {
    PendingWrite write;
    BankTimeline* bank;
    std::size_t opening;
    Cycle ready;
    Cycle work;  // for the bank
  };

  Place place(const DramLocation& location);
  /// Opens a row for a request at `at`; `next` is where in the bank's order. Returns the opening's index; `prepared` becomes
  /// the unloaded time until column commands.
  std::size_t open_row(const Place& place, std::uint64_t row, Cycle at, std::size_t next, bool write, Cycle& prepared);
  /// The last cycle of an activate that begins at or after `from`.
  Cycle activate(const Place& place, Cycle from);
  Cycle column(const Place& place, Cycle from);
  /// Column command of a read burst; `prepared` becomes the unloaded preparation that it needed.
  Cycle read_column(const DramLocation& location, Cycle at, Cycle& prepared);
  /// The refresh interval that a cycle lies in; 0 without refresh.
  std::uint64_t interval_of(Cycle cycle) {
    if (cycle - interval_begin_ >= interval_length_) [[unlikely]] {
      if (parameters_.tREFI.n == 0) return 0;
      interval_ = cycle / parameters_.tREFI.n;
      interval_begin_ = interval_ * parameters_.tREFI.n;
    }
    return interval_;
  }
  /// The earliest cycle at or after `cycle` in which the pseudo channel is not refreshed.
  Cycle after_refresh(PseudoChannel& pseudo, Cycle cycle) {
    return cycle - pseudo.quiet_from < pseudo.quiet ? cycle : find_refresh(pseudo, cycle);
  }
  Cycle find_refresh(PseudoChannel& pseudo, Cycle cycle);
  /// The refresh after `cycle`.
  Cycle next_refresh(Cycle cycle) {
    interval_of(cycle);
    return interval_begin_ + interval_length_;
  }
  void drain(PseudoChannel& pseudo, Cycle at);
  /// Moves from the pending writes into plan_ what one row of each bank takes, and opens the rows.
  void plan_writes(PseudoChannel& pseudo, Cycle at);
  void keep(PseudoChannel& pseudo, const PendingWrite& write);
  bool is_pending(const PseudoChannel& pseudo, std::uint64_t burst) const;
  Tick time(Cycle cycle) const { return clock_.ticks({cycle}); }

  const DramParameters parameters_;
  const Clock clock_;
  const DramAddressMap map_;
  const unsigned burst_shift_;  // log2 of the bytes of a burst
  const Cycle burst_;
  const Cycle column_gap_;    // between column commands of a pseudo channel
  const Cycle column_work_;   // of a bank, for one more of a row
  const Cycle before_write_;  // bubble between read and write commands
  const Cycle after_write_;
  std::vector<PseudoChannel> pseudo_channels_;
  std::vector<Group> groups_;
  std::vector<BankTimeline> banks_;
  const BankTimeline::Timing bank_timing_;
  const Cycle write_recovery_;  // write command to precharge
  SlotCalendar row_bus_;
  SlotCalendar column_bus_;
  PoolCalendar read_queue_;
  PoolCalendar write_queue_;
  // The interval that was asked for last.
  const Cycle interval_length_;
  std::uint64_t interval_ = 0;
  Cycle interval_begin_ = 0;
  // Of the drain at work: kept to avoid allocations.
  std::vector<PendingWrite> candidates_;
  std::vector<PlannedWrite> plan_;
  std::vector<Written> batch_;
  Cycle horizon_ = 0;
  DramStatistics statistics_;
};

}  // namespace lacuna
