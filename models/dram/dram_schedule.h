// When a DRAM channel's commands can be issued: banks, groups, buses, refresh and turnaround by reservation. No SystemC, no
// data.
//
// A request's commands are booked when it is made, at the earliest cycles that all constraints and all earlier bookings allow;
// its data are promised then. Bookings leave gaps and later requests fill them, which is what a first-ready scheduler does with
// the commands in its queue: a ready bank goes before one that waits. Three more of its rules are explicit:
//   - A request whose row is open when it arrives, or will be opened for an older request, is served before the row closes:
//     what is booked behind it in the bank moves back (models/dram/bank_timeline.h).
//   - Only `read_queue` reads are in the scheduler at once.
//   - Writes are posted and wait in a queue of the channel. When it holds more than write_high they go before all reads, until
//     less than write_low are left; and they go whenever no read waits. Rows that are open come first, then one row of each
//     bank at a time. The data bus turns round once for those that are ready within another turn's time.
// A drain comes after reads were promised that it should postpone. They keep their cycles; the reads that come next wait for
// as long instead, those in the drain until its last row is open.
// A bus cycle that is booked is never lost: a burst takes the next free cycles of its buses, wherever they lie (SlotCalendar::
// take). So the buses carry what they can carry, although requests are booked in another order than they arrive in.
// With `scheduler = fcfs` the commands of a read come after the column command of the one before, in each pseudo channel.
//
//   read on an idle channel, arrival to last data:
//     row open       tCL + burst
//     no row open    activate_cycles - 1 + tRCDRD + tCL + burst
//     another row    tRP + tRCDRD + tCL + burst
//
// Refresh: all banks of a pseudo channel every tREFI, in channel i of n of a device i / n of it after the first one, when the
// rows may be closed, for tRP + tRFC. What has not been read by then opens its row once more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/calendar.h"
#include "models/common/slot_calendar.h"
#include "models/common/units.h"
#include "models/dram/address_map.h"
#include "models/dram/bank_timeline.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/write_queue.h"

namespace lacuna {

/// Which of a device's channels one is.
struct DramChannelPlace {
  unsigned index = 0;
  unsigned count = 1;
};

class DramSchedule {
 public:
  /// std::invalid_argument when the organization makes no sense.
  explicit DramSchedule(const DramParameters& parameters, DramChannelPlace place = {});

  struct Read {
    Tick done;     ///< the last byte is on the bus
    Tick waiting;  ///< of the time since arrival, for the queue, other requests and refresh
  };
  /// `address` in the channel, `at` the arrival at the controller.
  Read read(std::uint64_t address, unsigned length, Tick at);
  /// Returns when the write queue has taken it.
  Tick write(std::uint64_t address, unsigned length, Tick at);

  /// No later call will ask for a time before `horizon`: drops what is past, and writes what could be written by then.
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
    Cycle next_write = 0;  // after the latest write
    Cycle next_read = 0;
  };
  struct PendingWrite {
    std::uint64_t burst;
    std::uint64_t row;
    Cycle accepted;
    std::uint32_t bank;
    bool opened;    // a row was opened for it
    bool prepared;  // its row is or was open: it waits for the bus to turn
  };
  struct PseudoChannel {
    SlotCalendar data;
    SlotCalendar activates;
    PoolCalendar activate_window{4};
    std::uint64_t refreshes = 0;         // that have begun
    Cycle refresh_waits = 0;             // the last of them, for rows to close
    std::uint64_t refreshes_booked = 0;  // on the data bus
    Cycle quiet_from = 0;                // from the refresh that was met last ...
    Cycle quiet = 0;                     // so many cycles to the next
    Cycle last_activate = 0;
    Cycle next_column = 0;    // after the latest column command of a read
    Cycle next_write = 0;     // when writes may follow the latest write
    Cycle writes_until = 0;   // when reads may
    Cycle next_activate = 0;  // to write
    // Of the drain at work: its first column command, the next, and the next when all that are planned are issued.
    Cycle turn_begin = 0;
    Cycle turn_next = 0;
    Cycle planned_next = 0;
  };
  struct Place {
    PseudoChannel& pseudo;
    Group& group;
    BankTimeline& bank;
    std::size_t index;  // of the bank
  };
  struct PlannedWrite {
    std::uint64_t row;
    Cycle accepted;
    PseudoChannel* pseudo;
    Group* group;
    std::size_t bank;
    std::size_t opening;
    Cycle ready;
    Cycle work;    // for the bank
    Cycle begins;  // the activate, or the column command when the row is open
    Cycle column;
  };
  struct PlanLimits {
    Cycle from;
    Cycle until;       // what need not be written begins before
    Cycle soon;        // ready by then
    std::size_t pass;  // where in plan_ the present row of each bank begins
    bool idle;         // no read waits
    bool goes_on;      // a drain is under way
  };
  /// What a bank needs for another row: the earliest activate, and the precharge of the row that is open, or 0.
  struct RowChange {
    Cycle activate;
    Cycle precharge;
    bool conflict;  // a row is open
  };
  /// The last planned write of a bank, when it is of the drain at work.
  struct BankPlan {
    std::uint64_t drain = 0;
    std::size_t index = 0;
  };

  std::size_t bank_of(const DramLocation& at) const {
    return (std::size_t{at.pseudo_channel} << group_bits_ | at.group) << bank_bits_ | at.bank;
  }
  Place place(std::size_t bank) {
    const std::size_t group = bank >> bank_bits_;
    return {pseudo_channels_[group >> group_bits_], groups_[group], banks_[bank], bank};
  }
  RowChange row_change(const BankTimeline::Opening* before, Cycle at) const;
  /// Opens a row for a read at `at`; `next` is where in the bank's order. Returns the opening's index; `prepared` becomes the
  /// unloaded time until column commands.
  std::size_t open_row(const Place& place, std::uint64_t row, Cycle at, std::size_t next, Cycle& prepared);
  /// The same for a write. Its row commands go before those that are booked.
  std::size_t open_row_to_write(const Place& place, std::uint64_t row, Cycle at, std::size_t next);
  std::size_t insert_row(const Place& place, std::size_t next, std::uint64_t row, Cycle at, Cycle activated, Cycle work,
                         Cycle precharge);
  /// The last cycle of an activate that begins at or after `from`.
  Cycle activate(const Place& place, Cycle from);
  Cycle column(const Place& place, Cycle from);
  /// Column command of a read burst; `prepared` becomes the unloaded preparation that it needed.
  Cycle read_column(const DramLocation& location, Cycle at, Cycle& prepared);
  /// The refresh interval that a cycle lies in; 0 without refresh.
  std::uint64_t interval_of(Cycle cycle) {
    if (cycle - interval_begin_ >= interval_length_) [[unlikely]] {
      if (parameters_.tREFI.n == 0) return 0;
      interval_ = (cycle + ahead_) / parameters_.tREFI.n;
      interval_begin_ = interval_ * parameters_.tREFI.n - ahead_;
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
  /// Serves waiting writes that begin between the last read that is booked and `until`.
  void write_idle(Cycle until) {
    if (!writes_.empty() && reads_until_ < until) drain_idle(until);
  }
  void drain_idle(Cycle until);
  /// Serves waiting writes from `from` on: those that begin before `until`, and all above the low watermark.
  void drain(Cycle from, Cycle until);
  /// Moves from the waiting writes to plan_ what one row of each bank takes, and opens the rows; `hits`: only those whose row
  /// is open.
  void plan_writes(const PlanLimits& limits, bool hits);
  /// `forced`: the queue is above its low watermark.
  bool plan_write(PendingWrite& write, const PlanLimits& limits, bool forced, bool hits);
  /// Column commands of what plan_ has from `pass` on.
  void issue_writes(std::size_t pass);
  /// Keeps the data bus for the planned writes.
  void book_turn(PseudoChannel& pseudo);
  /// The first column command of a drain.
  Cycle first_write(const PseudoChannel& pseudo, Cycle from, bool idle) const;
  void prepare(PendingWrite& write) {
    unprepared_ -= !write.prepared;
    write.prepared = true;
  }
  /// Reads that come from `from` to `until` wait for a drain, those after it for as long as those should have that are
  /// promised.
  void postpone_reads(Cycle from, Cycle until);
  Cycle postponed_instead(Cycle at);
  bool is_pending(std::uint64_t burst) const;
  Tick time(Cycle cycle) const { return clock_.ticks({cycle}); }

  const DramParameters parameters_;
  const Clock clock_;
  const DramAddressMap map_;
  const unsigned burst_shift_;  // log2 of the bytes of a burst
  const unsigned group_bits_;
  const unsigned bank_bits_;
  const Cycle burst_;
  const Cycle column_gap_;    // between column commands of a pseudo channel
  const Cycle column_work_;   // of a bank, for one more of a row
  const Cycle before_write_;  // bubble between read and write commands
  const Cycle after_write_;
  std::vector<PseudoChannel> pseudo_channels_;
  std::vector<Group> groups_;
  std::vector<BankTimeline> banks_;
  const BankTimeline::Timing bank_timing_;
  const Cycle activate_gap_;    // of a pseudo channel, on average
  const Cycle write_to_read_;   // of a group
  const Cycle write_recovery_;  // write command to precharge
  SlotCalendar row_bus_;
  SlotCalendar column_bus_;
  PoolCalendar read_queue_;
  WriteQueue write_queue_;
  const std::size_t write_high_;  // more of them are drained ...
  const std::size_t write_low_;   // until so many are left
  // The interval that was asked for last.
  const Cycle interval_length_;
  const Cycle ahead_;  // refreshes come so much before the multiples of tREFI
  std::uint64_t interval_ = 0;
  Cycle interval_begin_;                     // of the first one before cycle 0: unsigned numbers wrap, differences are right
  std::vector<PendingWrite> writes_;         // that wait, in order of their coming
  std::size_t unprepared_ = 0;               // of them
  std::array<std::uint8_t, 256> written_{};  // how many of them have these low bits of a burst number
  Cycle next_row_command_ = 0;               // to write
  Cycle reads_until_ = 0;                    // from then on no read waits
  // When the last reads that were booked begin, as many as the queue has: with the activate, or the column command when the row
  // is open.
  std::vector<Cycle> booked_reads_;
  std::size_t next_booked_ = 0;
  // The latest drain. Of a read that comes in it nothing is begun.
  Cycle drain_begin_ = 0;
  Cycle drain_length_ = 0;
  // The time by which it should have postponed reads that were promised before, and what others wait instead.
  Cycle postponed_ = 0;
  Cycle postponed_by_ = 0;
  Cycle postponed_until_ = 0;
  // Of the drain at work: kept to avoid allocations.
  std::uint64_t drain_ = 0;
  std::vector<BankPlan> bank_plans_;
  std::vector<PlannedWrite> plan_;
  Cycle horizon_ = 0;
  DramStatistics statistics_;
};

}  // namespace lacuna
