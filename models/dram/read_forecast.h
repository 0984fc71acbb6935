// Forecasts the time of a read, for callers that need the time synchronously.
//
// A forecast starts from the commands that the command scheduler has decided. The read follows the reads that wait in its bank:
// the read uses the row that is or will be open if the read arrives before that row is closed, otherwise it opens another row.
// In addition, the read takes the next free slots for commands and activates, after those that other forecasts have booked
// (SlotCalendar::take), and waits until the data bus has carried the waiting reads.
//
// A write books its cycles of the data bus and its share of a bus turnaround. The forecast does not include the times of
// drains, row commands of writes, and later requests that are served first; the scheduler reports the resulting error of past
// forecasts (CommandScheduler::owed).
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
    Cycle at;                           ///< cycle of the column command
    CommandScheduler::Command command;  ///< first command that the read needs
    Cycle prepared;                     ///< cycles from arrival to the column command on an idle channel
  };
  /// Forecasts a read burst that arrives at `at`, and books the resources of the read.
  inline Column read(CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at);
  /// Books the data bus for a write that arrives at `at`. Returns the time at which the write queue, if full, has room for the
  /// write: all writes that the queue holds go first.
  Cycle write(const CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at);
  void retire(Cycle horizon);
  void reset();

 private:
  /// A resource with one user at a time. Bookings do not extend beyond the time for which the waiting requests can use the
  /// resource: otherwise the delays of pessimistic forecasts would accumulate.
  struct Resource {
    SlotCalendar calendar;

    Cycle latest = 0;  // last cycle that is booked
    // A fully booked range of cycles, which searches skip.
    Cycle full_from = 0;
    Cycle full_to = 0;

    /// Books `length` cycles at or after `from` and returns the first of them; if no cycle is free up to from + waiting *
    /// length, returns that bound without booking. `waiting`: number of waiting requests, including the one that books.
    inline Cycle book(Cycle from, unsigned length, std::size_t waiting);
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
    std::array<Cycle, 4> window{};  // cycles of the last four activates
    unsigned oldest = 0;            // oldest element of `window`
    Cycle next_column = 0;
  };
  /// Books an activate that ends at or after `from`; returns its last cycle.
  Cycle activate(Pseudo& pseudo, Group& group, Cycle from, unsigned commands, std::size_t waiting);
  inline Cycle column(Pseudo& pseudo, Group& group, Cycle from, std::size_t waiting);
  const DramParameters& parameters_;
  const unsigned group_bits_;
  const unsigned bank_bits_;
  const unsigned column_gap_;
  const bool books_columns_of_groups_;
  const bool books_activates_of_groups_;
  const Cycle refresh_length_;
  const unsigned write_cost_;  // data bus cycles of a write, including its share of a turnaround
  const Cycle queued_writes_;  // data bus cycles of a full write queue
  RefreshTimes refresh_;
  std::vector<Pseudo> pseudos_;
  std::vector<Group> groups_;
  Resource row_bus_;
  Resource column_bus_;
};

}  // namespace lacuna
