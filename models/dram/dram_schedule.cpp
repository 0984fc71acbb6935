#include "models/dram/dram_schedule.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace lacuna {
namespace {

DramOrganization organization(const DramParameters& p) {
  for (const unsigned count : {p.pseudo_channels, p.bank_groups, p.banks_per_group, p.bytes_per_cycle}) {
    if (!std::has_single_bit(count)) throw std::invalid_argument("DRAM: counts and widths are powers of two");
  }
  const std::uint64_t burst = p.burst.n * p.bytes_per_cycle;
  if (!std::has_single_bit(burst) || !std::has_single_bit(p.row_size.n) || p.row_size.n < burst) {
    throw std::invalid_argument("DRAM: a row of " + std::to_string(p.row_size.n) +
                                " bytes is not a power of two of bursts of " + std::to_string(burst));
  }
  if (p.write_drain == 0 || p.write_drain > p.write_queue) {
    throw std::invalid_argument("DRAM: write_drain is at least 1 and at most write_queue");
  }
  return {p.pseudo_channels, p.bank_groups, p.banks_per_group, static_cast<unsigned>(p.row_size.n / burst)};
}

}  // namespace

DramSchedule::DramSchedule(const DramParameters& parameters)
    : parameters_(parameters),
      clock_(parameters.clock),
      map_(parameters.address_map, organization(parameters)),
      burst_shift_(static_cast<unsigned>(std::countr_zero(parameters.burst.n * parameters.bytes_per_cycle))),
      burst_(parameters.burst.n),
      column_gap_(std::max(parameters.burst.n, parameters.tCCDS.n)),
      before_write_(parameters.tCL.n + parameters.tRTRS.n - std::min(parameters.tCL.n + parameters.tRTRS.n, parameters.tCWL.n)),
      after_write_(parameters.tCWL.n + parameters.tWTR.n),
      pseudo_channels_(parameters.pseudo_channels),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups),
      banks_(groups_.size() * parameters.banks_per_group),
      read_queue_(parameters.read_queue),
      // The writes that gather are not in it yet.
      write_queue_(parameters.write_queue - parameters.write_drain + 1),
      interval_length_(parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0}) {}

DramSchedule::Place DramSchedule::place(const DramLocation& location) {
  const std::size_t group = std::size_t{location.pseudo_channel} * parameters_.bank_groups + location.group;
  return {pseudo_channels_[location.pseudo_channel], groups_[group],
          banks_[group * parameters_.banks_per_group + location.bank]};
}

DramSchedule::Cycle DramSchedule::refresh_end(PseudoChannel& pseudo, std::uint64_t interval) {
  if (interval == pseudo.refreshed) return pseudo.refresh_end;
  const Cycle begin = interval * parameters_.tREFI.n;
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  if (interval < pseudo.refreshed) return begin + duration;
  statistics_.refreshes += interval - pseudo.refreshed;
  // Rows that were opened before it are closed first; none is opened while it waits, so it does not wait longer than tRC.
  const Cycle closed = std::clamp(pseudo.last_precharge, begin, begin + parameters_.tRC.n);
  pseudo.refreshed = interval;
  pseudo.refresh_end = closed + duration;
  return pseudo.refresh_end;
}

DramSchedule::Cycle DramSchedule::find_activate(const Place& place, Cycle from) {
  const auto length = static_cast<unsigned>(parameters_.activate_cycles.n);
  const auto other_group = static_cast<unsigned>(parameters_.tRRDS.n);
  const auto same_group = static_cast<unsigned>(parameters_.tRRDL.n);
  for (Cycle at = from;;) {
    const Cycle asked = at;
    if (const std::uint64_t interval = interval_of(at); interval != 0) {
      at = std::max(at, refresh_end(place.pseudo, interval));
    }
    at = row_bus_.first_run(at, length);
    at = place.pseudo.activates.first_run(at, other_group);
    if (same_group > other_group) at = place.group.activates.first_run(at, same_group);
    if (parameters_.tFAW.n > 4 * parameters_.tRRDS.n) at = place.pseudo.activate_window.acquire({at}).ps;
    if (at != asked) continue;
    row_bus_.book(at, length);
    place.pseudo.activates.book(at, other_group);
    if (same_group > other_group) place.group.activates.book(at, same_group);
    if (parameters_.tFAW.n > 4 * parameters_.tRRDS.n) place.pseudo.activate_window.occupy({at}, {at + parameters_.tFAW.n});
    return at;
  }
}

DramSchedule::Cycle DramSchedule::open_row(const Place& place, std::uint64_t row, Cycle at, bool write) {
  Bank& bank = place.bank;
  bool open = bank.row != kNoRow;
  const Cycle ready = write ? bank.ready_write : bank.ready_read;
  if (open) {
    const std::uint64_t interval = interval_of(std::max(at, bank.row == row ? ready : bank.precharge));
    if (interval > bank.interval) {
      open = false;
      bank.row = kNoRow;
      bank.activate = std::max(bank.activate, refresh_end(place.pseudo, interval));
    }
  }
  if (open && bank.row == row) {
    ++statistics_.row_hits;
    return std::max(at, ready);
  }
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  Cycle activated = std::max(at + ahead, bank.activate);
  bank.former_row = bank.row;
  if (open) {
    ++statistics_.row_conflicts;
    const Cycle precharge = row_bus_.reserve(std::max(at, bank.precharge));
    activated = std::max(precharge + parameters_.tRP.n, bank.activate);
    bank.former_ready = bank.ready_read;
    bank.former_closes = precharge;
  } else {
    ++statistics_.row_empty;
  }
  activated = find_activate(place, activated - ahead) + ahead;
  bank.row = row;
  bank.ready_read = activated + parameters_.tRCDRD.n;
  bank.ready_write = activated + parameters_.tRCDWR.n;
  bank.precharge = activated + parameters_.tRAS.n;
  bank.activate = activated + parameters_.tRC.n;
  bank.interval = interval_of(activated);
  return write ? bank.ready_write : bank.ready_read;
}

DramSchedule::Cycle DramSchedule::find_column(const Place& place, Cycle from) {
  const auto any = static_cast<unsigned>(column_gap_);
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  for (Cycle at = from;;) {
    const Cycle asked = at;
    at = place.pseudo.data.first_run(at, any);
    if (same_group > any) at = place.group.columns.first_run(at, same_group);
    if (pseudo_channels_.size() > 1) at = column_bus_.first_run(at, 1);
    if (at == asked) return at;
  }
}

void DramSchedule::book_column(const Place& place, Cycle cycle) {
  const auto any = static_cast<unsigned>(column_gap_);
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  place.pseudo.data.book(cycle, any);
  if (same_group > any) place.group.columns.book(cycle, same_group);
  if (pseudo_channels_.size() > 1) column_bus_.book(cycle, 1);
  place.pseudo.next_column = std::max(place.pseudo.next_column, cycle + 1);
  statistics_.bus_busy += time(burst_);
}

void DramSchedule::column_done(const Place& place, Cycle earliest_precharge) {
  Bank& bank = place.bank;
  bank.precharge = std::max(bank.precharge, earliest_precharge);
  if (parameters_.page_policy == DramPagePolicy::closed) {
    bank.row = kNoRow;
    bank.activate = std::max(bank.activate, bank.precharge + parameters_.tRP.n);
  } else {
    place.pseudo.last_precharge = std::max(place.pseudo.last_precharge, bank.precharge);
  }
}

DramSchedule::Cycle DramSchedule::read_column(const DramLocation& location, Cycle at, Cycle& prepared) {
  const Place where = place(location);
  Bank& bank = where.bank;
  const bool in_order = parameters_.scheduler == DramScheduler::fcfs;
  prepared = 0;
  if (in_order) at = std::max(at, where.pseudo.next_column);
  if (!in_order && bank.former_row == location.row && bank.row != location.row) {
    // The row is still open when the request comes, though its end is booked.
    const Cycle cycle = find_column(where, std::max(at, bank.former_ready));
    if (cycle + parameters_.tRTP.n <= bank.former_closes) {
      ++statistics_.row_hits;
      book_column(where, cycle);
      return cycle;
    }
  }
  const std::uint64_t empty = statistics_.row_empty;
  const std::uint64_t conflicts = statistics_.row_conflicts;
  const Cycle ready = open_row(where, location.row, at, false);
  if (statistics_.row_empty != empty) prepared = parameters_.activate_cycles.n - 1 + parameters_.tRCDRD.n;
  if (statistics_.row_conflicts != conflicts) prepared = parameters_.tRP.n + parameters_.tRCDRD.n;
  const Cycle cycle = find_column(where, ready);
  book_column(where, cycle);
  column_done(where, cycle + parameters_.tRTP.n);
  return cycle;
}

DramSchedule::Read DramSchedule::read(std::uint64_t address, unsigned length, Tick at) {
  const Tick enters = read_queue_.acquire(at);
  const Cycle start = clock_.ceil(enters).n;
  drain_idle(start);
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Cycle done = start;
  Cycle longest = 0;
  Cycle left = start;
  for (std::uint64_t burst = first; burst <= last; ++burst) {
    const DramLocation location = map_.locate(burst);
    const auto& writes = pseudo_channels_[location.pseudo_channel].writes;
    if (std::any_of(writes.begin(), writes.end(), [burst](const PendingWrite& w) { return w.burst == burst; })) {
      ++statistics_.forwarded;
      done = std::max(done, start + burst_);
      longest = std::max(longest, burst_);
      continue;
    }
    Cycle prepared = 0;
    const Cycle column = read_column(location, start, prepared);
    left = std::max(left, column);
    done = std::max(done, column + parameters_.tCL.n + burst_);
    // Bursts of other pseudo channels overlap, those of one follow each other.
    const std::uint64_t before = (burst - first) / pseudo_channels_.size();
    longest = std::max(longest, prepared + parameters_.tCL.n + (before + 1) * burst_);
  }
  read_queue_.occupy(enters, later(time(left), enters));
  const Tick finished = time(done);
  const Tick unloaded = time(longest);
  const Tick waiting = finished > at + unloaded ? finished - at - unloaded : Tick{};
  statistics_.queueing += waiting;
  return {finished, waiting};
}

Tick DramSchedule::write(std::uint64_t address, unsigned length, Tick at) {
  drain_idle(clock_.floor(at).n);
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Tick accepted = at;
  for (std::uint64_t burst = address >> burst_shift_; burst <= last; ++burst) {
    accepted = write_queue_.acquire(accepted);
    const DramLocation location = map_.locate(burst);
    PseudoChannel& pseudo = pseudo_channels_[location.pseudo_channel];
    pseudo.writes.push_back({burst, location, clock_.ceil(accepted).n});
    if (pseudo.writes.size() >= parameters_.write_drain) drain(pseudo, clock_.ceil(accepted).n);
  }
  return accepted;
}

void DramSchedule::drain_idle(Cycle at) {
  for (PseudoChannel& pseudo : pseudo_channels_) {
    while (!pseudo.writes.empty() && pseudo.writes.front().accepted + parameters_.write_idle.n < at) {
      drain(pseudo, pseudo.writes.front().accepted + parameters_.write_idle.n);
    }
  }
}

void DramSchedule::drain(PseudoChannel& pseudo, Cycle at) {
  // Of each bank, the writes to one row; those to another row of it wait for the next time.
  batch_.clear();
  std::size_t kept = 0;
  for (const PendingWrite& write : pseudo.writes) {
    const auto clash = std::find_if(batch_.begin(), batch_.end(), [&write](const PendingWrite& other) {
      return other.location.group == write.location.group && other.location.bank == write.location.bank &&
             other.location.row != write.location.row;
    });
    if (clash == batch_.end()) {
      batch_.push_back(write);
    } else {
      pseudo.writes[kept++] = write;
    }
  }
  pseudo.writes.resize(kept);
  const std::uint64_t count = batch_.size();
  Cycle start = at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Cycle ready = open_row(place(batch_[i].location), batch_[i].location.row, at, true);
    const Cycle before = before_write_ + i * column_gap_;
    start = std::max(start, ready - std::min(ready, before));
  }
  const auto length = static_cast<unsigned>(before_write_ + count * column_gap_ + after_write_);
  start = pseudo.data.first_run(start, length);
  pseudo.data.book(start, length);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Cycle column = start + before_write_ + i * column_gap_;
    const Tick accepted = time(batch_[i].accepted);
    write_queue_.occupy(accepted, later(time(column), accepted));
    column_done(place(batch_[i].location), column + parameters_.tCWL.n + burst_ + parameters_.tWR.n);
    statistics_.bus_busy += time(burst_);
  }
  ++statistics_.write_drains;
}

void DramSchedule::retire(Tick horizon) {
  const Cycle cycle = clock_.floor(horizon).n;
  for (PseudoChannel& pseudo : pseudo_channels_) {
    pseudo.data.retire(cycle);
    pseudo.activates.retire(cycle);
    pseudo.activate_window.retire({cycle});
  }
  for (Group& group : groups_) {
    group.columns.retire(cycle);
    group.activates.retire(cycle);
  }
  row_bus_.retire(cycle);
  column_bus_.retire(cycle);
  read_queue_.retire(horizon);
  write_queue_.retire(horizon);
}

void DramSchedule::reset() {
  for (PseudoChannel& pseudo : pseudo_channels_) pseudo = PseudoChannel{};
  for (Group& group : groups_) group = Group{};
  for (Bank& bank : banks_) bank = Bank{};
  row_bus_.reset();
  column_bus_.reset();
  read_queue_.reset();
  write_queue_.reset();
}

}  // namespace lacuna
