// Inline functions of the DRAM scheduler and forecast, called for each burst. For models/dram only.
//
// Performance notes
//   - DramSchedule forecasts, adds and looks up each burst of a request: these functions are inline, because a call per burst
//     is measurable. Rare cases are in separate functions, behind a test marked [[unlikely]].
//   - A CommandScheduler::Request and the hot members of a Bank each fill whole lines of the host's cache (alignas(64)).
//   - Earliest cycles are compared by value (earlier_of(), later_of()): compilers turn std::max of several members into a
//     selection of addresses.
//   - A search for the next column command first tries banks that are ready as soon as the buses are, which needs no
//     comparison of times (find_unhindered_column()).
//   - ReadForecast::Resource skips a range that has no free cycle: on a loaded resource, each request would search it again.
//   - CommandScheduler::share() shifts instead of dividing if the read queue is a power of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/dram/command_scheduler.h"
#include "models/dram/read_forecast.h"

namespace lacuna {

// -- CommandScheduler

inline CommandScheduler::Index CommandScheduler::add(const Burst& burst, Cycle at, Cycle column, Kind kind,
                                                     Requester requester) {
  Index index = free_;
  if (index != kNone) [[likely]] {
    free_ = requests_[index].next;
  } else {
    index = static_cast<Index>(requests_.size());
    requests_.emplace_back();
  }
  requests_[index] = {.number = burst.number,
                      .at = at,
                      .column = column,
                      .sequence = sequence_++,
                      .order = kNotEntered,
                      .row = static_cast<std::uint32_t>(burst.row),
                      .bank = burst.bank,
                      .next = kNone,
                      .next_written = kNone,
                      .requester = requester,
                      .kind = kind,
                      .opened = false,
                      .first = Command::column};
  ++waiting_;
  waiting_reads_ += kind == kReads;
  BankTail& tail = tails_[burst.bank];
  Bank& bank = banks_[burst.bank];
  if (at < bank.latest) {
    tail.known = false;
  } else {
    bank.latest = at;
    if (kind == kReads && tail.known) tail.extend(tail_timing_, burst.row, at);
  }
  link(bank, index);
  queues_[kind].insert(index, at);
  return index;
}

inline void CommandScheduler::link(Bank& bank, Index index) {
  Request& request = requests_[index];
  Index& first = bank.first[request.kind];
  Index& last = bank.last[request.kind];
  if (first == kNone) {
    first = last = index;
  } else if (requests_[last].at <= request.at) {
    requests_[last].next = index;
    last = index;
  } else {
    Index* place = &first;
    while (requests_[*place].at <= request.at) place = &requests_[*place].next;
    request.next = *place;
    *place = index;
  }
}

inline CommandScheduler::RowState CommandScheduler::row_state(const Burst& burst, Cycle at, Cycle refreshed) {
  BankTail& tail = tails_[burst.bank];
  // Usually the bank's last request arrived earlier and its tail is still valid.
  if (banks_[burst.bank].latest > at) [[unlikely]]
    return row_state_before(burst, at, refreshed);
  if (!tail.known || tail.at < refreshed) find_tail(tail, burst.bank, at, refreshed);
  return row_state(tail, burst.row, at);
}

inline void CommandScheduler::read(const Burst& burst, Cycle at, Cycle column) {
  // A read that is added after the schedule has been decided past its arrival is served late. A hardware controller would have
  // served the read in time, so this delay is not counted as a forecast error.
  const Cycle late = now_ > at ? now_ - at : 0;
  add(burst, at + late, column + late, kReads, kNoRequester);
}

inline void CommandScheduler::read_later(const Burst& burst, Cycle at, Requester requester) {
  add(burst, std::max(at, now_), 0, kReads, requester);
}

inline void CommandScheduler::write(const Burst& burst, Cycle at, Requester requester) {
  const Index index = add(burst, std::max(at, now_), 0, kWrites, requester);
  Index& first = written_[burst.number % written_.size()];
  requests_[index].next_written = first;
  first = index;
}

inline std::int64_t CommandScheduler::share() const {
  const auto magnitude = [](std::int64_t n) { return static_cast<std::uint64_t>(n < 0 ? -n : n); };
  const std::uint64_t most = 2 * magnitude(error_sum_);
  const std::uint64_t owed = magnitude(owed_);
  const std::uint64_t cycles = owed < most ? owed : most;
  if (cycles < reads_) return 0;
  const auto part = static_cast<std::int64_t>(reads_shift_ >= 0 ? cycles >> reads_shift_ : cycles / reads_);
  return owed_ < 0 ? -part : part;
}

inline CommandScheduler::Next CommandScheduler::next_command(const Bank& bank, Kind mode) const {
  if (bank.opened[mode ^ 1] != 0) [[unlikely]]
    return next_of_both(bank, mode);
  const Index first = bank.first[mode];
  if (first == kNone || !has_entered(requests_[first])) return {Command::none, kNone};
  if (!bank.open) return {Command::activate, first};
  // The list is in the order in which requests enter: the first one that has not entered ends the search.
  for (Index i = first; i != kNone && has_entered(requests_[i]); i = requests_[i].next) {
    if (requests_[i].row == bank.row) return {Command::column, i};
    if (in_order_) break;
  }
  return {Command::precharge, first};
}

inline void CommandScheduler::serve(Choice& choice, Next next) {
  const Request& request = requests_[next.served];
  choice = {request.order, next.served, next.command, request.kind, next.alternative != kNone};
  if (choice.either) [[unlikely]]
    alternatives_[request.bank][&choice - banks_[request.bank].choices.data()] = next.alternative;
}

// -- ReadForecast

inline ReadForecast::Cycle ReadForecast::Resource::book(Cycle from, unsigned length, std::size_t waiting) {
  const Cycle bound = from + waiting * length;
  const Cycle free = from - full_from < full_to - full_from ? full_to : from;
  if (latest > bound && (free > bound || calendar.first_run(free, 1) > bound)) return bound;
  const Cycle last = calendar.take(free, length);
  latest = last > latest ? last : latest;
  // All cycles from `free` to `last` are booked.
  if (free > full_to || last + 1 < full_from) {
    full_from = free;
    full_to = last + 1;
  } else {
    full_from = free < full_from ? free : full_from;
    full_to = last < full_to ? full_to : last + 1;
  }
  return last - (length - 1);
}

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
    // The read starts after the previous read, but no later than if each waiting request opened a row.
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
    // Waiting reads of read_later(), which book no slots, are also served first.
    if (first) ready = std::max(ready, commands.decided_until() + commands.waiting_reads() * column_gap_ / pseudos_.size());
    result.at = first ? column(pseudo, group, ready, waiting) : std::max(result.at, ready);
    // If a refresh closes the row before the column command, the row is opened again; the booked slots remain.
    if (limit == RefreshTimes::kNever || result.at + parameters_.tRTP.n <= limit) return result;
    at = limit;
  }
}

}  // namespace lacuna
