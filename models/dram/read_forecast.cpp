#include "models/dram/read_forecast.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/dram/detail/inline_scheduling.h"

namespace lacuna {
namespace {

/// Cycles of data bus turnaround (to writes and back) per write, amortised over a drain from the high to the low watermark.
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
      books_columns_of_groups_(parameters.tCCDL.n > column_gap_),
      books_activates_of_groups_(parameters.tRRDL > parameters.tRRDS),
      refresh_length_(parameters.tRP.n + parameters.tRFC.n),
      write_cost_(column_gap_ + turn_of_a_write(parameters)),
      queued_writes_(Cycle{parameters.write_queue} * write_cost_ / parameters.pseudo_channels),
      refresh_(refresh),
      pseudos_(parameters.pseudo_channels),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups) {}

ReadForecast::Cycle ReadForecast::activate(Pseudo& pseudo, Group& group, Cycle from, unsigned commands, std::size_t waiting) {
  const auto other_group = static_cast<unsigned>(parameters_.tRRDS.n);
  const auto same_group = static_cast<unsigned>(parameters_.tRRDL.n);
  const Cycle newest = pseudo.window[(pseudo.oldest + 3) % 4];
  if (const Cycle free = pseudo.window[pseudo.oldest] + parameters_.tFAW.n; from < free && from >= newest && newest != 0)
    from = free;
  if (books_activates_of_groups_) from = group.activates.book(from, same_group, waiting);
  from = pseudo.activates.book(from, other_group, waiting);
  // The row bus also carries the precharge, in an earlier cycle. Booking both commands here keeps the bus equally busy.
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  from = row_bus_.book(from - ahead, commands, waiting) + ahead;
  pseudo.window[pseudo.oldest] = from;
  pseudo.oldest = (pseudo.oldest + 1) % 4;
  return from;
}

ReadForecast::Cycle ReadForecast::write(const CommandScheduler& commands, const CommandScheduler::Burst& burst, Cycle at) {
  Pseudo& pseudo = pseudos_[burst.bank >> bank_bits_ >> group_bits_];
  if (const RefreshTimes::Interval interval = refresh_.at(at); interval.refreshes) {
    at = std::max(at, interval.begin + refresh_length_);
  }
  const Cycle begins = pseudo.data.book(at, write_cost_, commands.waiting() + 1);
  return begins - std::min(begins, queued_writes_);
}

void ReadForecast::retire(Cycle horizon) {
  for (Pseudo& pseudo : pseudos_) {
    pseudo.data.calendar.retire(horizon);
    pseudo.activates.calendar.retire(horizon);
  }
  row_bus_.calendar.retire(horizon);
  if (pseudos_.size() > 1) column_bus_.calendar.retire(horizon);
  if (!books_columns_of_groups_ && !books_activates_of_groups_) return;
  for (Group& group : groups_) {
    group.columns.calendar.retire(horizon);
    group.activates.calendar.retire(horizon);
  }
}

void ReadForecast::reset() {
  std::fill(pseudos_.begin(), pseudos_.end(), Pseudo{});
  std::fill(groups_.begin(), groups_.end(), Group{});
  row_bus_.reset();
  column_bus_.reset();
  refresh_.reset();
}

}  // namespace lacuna
