// When a read's data will be there, for callers that need to know it with the call.
//
// The commands that come before it are known as far as the command scheduler has decided them. It goes behind the reads that
// wait in its bank: to the row that is or will be open, if it comes before that row is closed, otherwise to one of its own.
// Beside its bank it waits for the buses and the activates that other forecasts have booked, of which the next free ones are
// taken wherever they lie (SlotCalendar::take), and for the data bus until the reads that wait have been carried.
//
// A write takes its cycles of the data bus and its part of a turn of the bus. When it is written, what its rows cost and what
// comes later and goes first are not in the forecast: the scheduler says by how much forecasts were wrong
// (CommandScheduler::owed).
//
//   read on an idle channel, arrival to last data:
//     row open       tCL + burst
//     no row open    activate_cycles - 1 + tRCDRD + tCL + burst
//     another row    tRP + tRCDRD + tCL + burst
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/slot_calendar.h"
#include "models/dram/command_scheduler.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/refresh_times.h"

namespace lacuna {

class ReadForecast {
 public:
  using Cycle = std::uint64_t;

  ReadForecast(const DramParameters& parameters, const RefreshTimes& refresh);

  struct Column {
    Cycle at;                           ///< the column command
    CommandScheduler::Command command;  ///< that comes first
    Cycle prepared;                     ///< on an idle channel it would come so long after the arrival
  };
  /// A read burst that arrives at `at`; books what it needs.
  Column read(CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at);
  /// A write that comes at `at` takes its part of the data bus. Returns when the queue has room for it if it is full then: all
  /// that it holds are before it.
  Cycle write(const CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at);
  void retire(Cycle horizon);
  void reset();

 private:
  /// What carries one thing at a time. It is not booked for longer than the requests that wait can use it: forecasts that are
  /// too late would otherwise pile up.
  struct Resource {
    SlotCalendar calendar;
    Cycle latest = 0;
    // Cycles that are all booked: what a loaded resource would look through again for each request.
    Cycle full_from = 0;
    Cycle full_to = 0;

    /// The first of `length` cycles at or after `from`, when `waiting` requests are before it.
    Cycle book(Cycle from, unsigned length, std::size_t waiting) {
      const Cycle bound = from + waiting * length;
      const Cycle free = from - full_from < full_to - full_from ? full_to : from;
      if (latest > bound && (free > bound || calendar.first_run(free, 1) > bound)) return bound;
      const Cycle last = calendar.take(free, length);
      latest = last > latest ? last : latest;
      // All from `free` to the last one are booked now.
      if (free > full_to || last + 1 < full_from) {
        full_from = free;
        full_to = last + 1;
      } else {
        full_from = free < full_from ? free : full_from;
        full_to = last < full_to ? full_to : last + 1;
      }
      return last - (length - 1);
    }
    void reset() {
      calendar.reset();
      latest = full_from = full_to = 0;
    }
  };
  struct Group {
    Resource columns;
    Resource activates;
  };
  struct Pseudo {
    Resource data;
    Resource activates;
    std::array<Cycle, 4> window{};  // the last activates
    unsigned oldest = 0;
    Cycle next_column = 0;
  };
  /// The last cycle of an activate that ends at or after `from`.
  Cycle activate(Pseudo& pseudo, Group& group, Cycle from, unsigned commands, std::size_t waiting);
  Cycle column(Pseudo& pseudo, Group& group, Cycle from, std::size_t waiting);
  const DramParameters& parameters_;
  const unsigned group_bits_;
  const unsigned bank_bits_;
  const unsigned column_gap_;
  const bool books_columns_of_groups_;
  const bool books_activates_of_groups_;
  const Cycle refresh_length_;
  const unsigned write_cost_;  // cycles of the data bus
  const Cycle queued_writes_;  // likewise, of all that the queue holds
  RefreshTimes refresh_;
  std::vector<Pseudo> pseudos_;
  std::vector<Group> groups_;
  Resource row_bus_;
  Resource column_bus_;
};

inline ReadForecast::Cycle ReadForecast::column(Pseudo& pseudo, Group& group, Cycle from, std::size_t waiting) {
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  if (books_columns_of_groups_) from = group.columns.book(from, same_group, waiting);
  from = pseudo.data.book(from, column_gap_, waiting);
  if (pseudos_.size() > 1) from = column_bus_.book(from, 1, waiting);
  pseudo.next_column = std::max(pseudo.next_column, from + 1);
  return from;
}

inline ReadForecast::Column ReadForecast::read(CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at) {
  const std::size_t group_index = burst.bank >> bank_bits_;
  Group& group = groups_[group_index];
  Pseudo& pseudo = pseudos_[group_index >> group_bits_];
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  const Cycle writes_end = commands.after_writes(burst.bank);
  const std::size_t waiting = commands.waiting() + 1;
  if (parameters_.scheduler == DramScheduler::fcfs) {
    // Behind the one before, and no later than all that wait would need if each had a row of its own to open.
    at = std::max(at, std::min(pseudo.next_column, at + (waiting - 1) * parameters_.tRC.n));
  }
  Column result{0, CommandScheduler::Command::none, 0};
  for (bool first = true;; first = false) {
    const RefreshTimes::Interval interval = refresh_.at(at);
    if (interval.refreshes) at = std::max(at, interval.begin + refresh_length_);
    const Cycle limit = interval.end;
    const CommandScheduler::RowState row = commands.row_state(burst, at, interval.begin);
    Cycle ready = at;
    result.command = row.command;
    if (row.command == CommandScheduler::Command::column) {
      result.prepared = 0;
      ready = std::max(at, row.ready);
    } else {
      Cycle from = std::max(at + ahead, row.ready);
      auto row_commands = static_cast<unsigned>(parameters_.activate_cycles.n);
      result.prepared = ahead;
      if (row.command == CommandScheduler::Command::precharge) {
        ++row_commands;
        result.prepared = parameters_.tRP.n;
        from = std::max(std::max(at, row.ready) + parameters_.tRP.n, row.cycle);
      }
      result.prepared += parameters_.tRCDRD.n;
      ready = activate(pseudo, group, from, row_commands, waiting) + parameters_.tRCDRD.n;
    }
    ready = std::max(ready, writes_end);
    // Reads that have booked nothing are before it as well.
    if (first) ready = std::max(ready, commands.decided_until() + commands.waiting_reads() * column_gap_ / pseudos_.size());
    result.at = first ? column(pseudo, group, ready, waiting) : std::max(result.at, ready);
    // A refresh closes the row before it is this read's turn: then it is opened again, and the turn remains.
    if (limit == RefreshTimes::kNever || result.at + parameters_.tRTP.n <= limit) return result;
    at = limit;
  }
}

}  // namespace lacuna
