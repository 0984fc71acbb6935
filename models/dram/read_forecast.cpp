#include "models/dram/read_forecast.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lacuna {
namespace {

/// Cycles that the data bus turns round in, there and back, for each write of a drain from the high watermark to the low.
unsigned turn_of_a_write(const DramParameters& p) {
  const std::uint64_t turn = p.tCL.n + p.tRTRS.n + p.burst.n + std::min(p.tWTRS.n, p.tWTR.n);
  const double writes = std::max(1.0, (p.write_high - p.write_low) * p.write_queue / p.pseudo_channels);
  return static_cast<unsigned>(std::lround(static_cast<double>(turn) / writes));
}

}  // namespace

ReadForecast::ReadForecast(const DramParameters& parameters, const RefreshTimes& refresh)
    : parameters_(parameters),
      group_bits_(static_cast<unsigned>(std::countr_zero(parameters.bank_groups))),
      bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks_per_group))),
      column_gap_(static_cast<unsigned>(std::max(parameters.burst.n, parameters.tCCDS.n))),
      refresh_length_(parameters.tRP.n + parameters.tRFC.n),
      write_cost_(column_gap_ + turn_of_a_write(parameters)),
      refresh_(refresh),
      pseudos_(parameters.pseudo_channels),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups) {}

ReadForecast::Cycle ReadForecast::activate(Pseudo& pseudo, Group& group, Cycle from, unsigned commands, std::size_t waiting) {
  const auto other_group = static_cast<unsigned>(parameters_.tRRDS.n);
  const auto same_group = static_cast<unsigned>(parameters_.tRRDL.n);
  const Cycle newest = pseudo.window[(pseudo.oldest + 3) % 4];
  if (const Cycle free = pseudo.window[pseudo.oldest] + parameters_.tFAW.n; from < free && from >= newest && newest != 0)
    from = free;
  if (same_group > other_group) from = group.activates.book(from, same_group, waiting);
  from = pseudo.activates.book(from, other_group, waiting);
  // The bus carries the precharge as well, earlier: it is as busy as if it came now.
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  from = row_bus_.book(from - ahead, commands, waiting) + ahead;
  pseudo.window[pseudo.oldest] = from;
  pseudo.oldest = (pseudo.oldest + 1) % 4;
  return from;
}

ReadForecast::Cycle ReadForecast::column(Pseudo& pseudo, Group& group, Cycle from, std::size_t waiting) {
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  if (same_group > column_gap_) from = group.columns.book(from, same_group, waiting);
  from = pseudo.data.book(from, column_gap_, waiting);
  if (pseudos_.size() > 1) from = column_bus_.book(from, 1, waiting);
  pseudo.next_column = std::max(pseudo.next_column, from + 1);
  return from;
}

ReadForecast::Column ReadForecast::read(CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at) {
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
    result.at = first ? column(pseudo, group, ready, waiting) : std::max(result.at, ready);
    // A refresh closes the row before it is this read's turn: then it is opened again, and the turn remains.
    if (limit == RefreshTimes::kNever || result.at + parameters_.tRTP.n <= limit) return result;
    at = limit;
  }
}

ReadForecast::Cycle ReadForecast::write(const CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at) {
  Pseudo& pseudo = pseudos_[burst.bank >> bank_bits_ >> group_bits_];
  if (const RefreshTimes::Interval interval = refresh_.at(at); interval.refreshes) {
    at = std::max(at, interval.begin + refresh_length_);
  }
  const Cycle begins = pseudo.data.book(at, write_cost_, commands.waiting() + 1);
  const Cycle before = Cycle{parameters_.write_queue} * write_cost_ / pseudos_.size();
  return begins - std::min(begins, before);
}

void ReadForecast::retire(Cycle horizon) {
  for (Pseudo& pseudo : pseudos_) {
    pseudo.data.calendar.retire(horizon);
    pseudo.activates.calendar.retire(horizon);
  }
  for (Group& group : groups_) {
    group.columns.calendar.retire(horizon);
    group.activates.calendar.retire(horizon);
  }
  row_bus_.calendar.retire(horizon);
  column_bus_.calendar.retire(horizon);
}

void ReadForecast::reset() {
  std::fill(pseudos_.begin(), pseudos_.end(), Pseudo{});
  std::fill(groups_.begin(), groups_.end(), Group{});
  row_bus_.reset();
  column_bus_.reset();
  refresh_.reset();
}

}  // namespace lacuna
