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
  if (p.tREFI.n != 0 && p.tREFI.n <= p.tRAS.n + p.tRP.n + p.tRFC.n) {
    throw std::invalid_argument("DRAM: tREFI is longer than tRAS + tRP + tRFC, or there is no time between refreshes");
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
      column_work_(std::max(column_gap_, parameters.tCCDL.n)),
      before_write_(parameters.tCL.n + parameters.tRTRS.n - std::min(parameters.tCL.n + parameters.tRTRS.n, parameters.tCWL.n)),
      after_write_(parameters.tCWL.n + parameters.tWTR.n),
      pseudo_channels_(parameters.pseudo_channels),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups),
      banks_(groups_.size() * parameters.banks_per_group),
      bank_timing_{.precharge = parameters.tRP.n, .cycle = parameters.tRC.n, .active = parameters.tRAS.n},
      write_recovery_(parameters.tCWL.n + parameters.burst.n + parameters.tWR.n),
      read_queue_(parameters.read_queue),
      // The writes that gather are not in it yet.
      write_queue_(parameters.write_queue - parameters.write_drain + 1),
      interval_length_(parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0}) {}

DramSchedule::Place DramSchedule::place(const DramLocation& location) {
  const std::size_t group = std::size_t{location.pseudo_channel} * parameters_.bank_groups + location.group;
  return {pseudo_channels_[location.pseudo_channel], groups_[group],
          banks_[group * parameters_.banks_per_group + location.bank]};
}

DramSchedule::Cycle DramSchedule::find_refresh(PseudoChannel& pseudo, Cycle cycle) {
  const std::uint64_t interval = interval_of(cycle);
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  const bool shares = &pseudo == pseudo_channels_.data();  // one books the row bus for all, which are refreshed at once
  if (interval + 1 > pseudo.refreshes_booked && parameters_.tREFI.n != 0) {
    // The buses are not used in them; what waits now may reach into the next.
    for (std::uint64_t i = std::max({interval, pseudo.refreshes_booked + 1, std::uint64_t{1}}); i <= interval + 1; ++i) {
      const Cycle begin = i * parameters_.tREFI.n;
      pseudo.data.take(begin, static_cast<unsigned>(duration));
      if (shares) row_bus_.take(begin, static_cast<unsigned>(duration));
    }
    pseudo.refreshes_booked = interval + 1;
  }
  if (interval == 0) {
    pseudo.quiet_from = 0;
    pseudo.quiet = interval_length_;
    return cycle;
  }
  if (interval > pseudo.refreshes) {
    statistics_.refreshes += interval - pseudo.refreshes;
    pseudo.refreshes = interval;
    // A row that was just opened keeps it waiting for tRAS.
    const Cycle closed = std::min(pseudo.last_activate, interval_begin_) + parameters_.tRAS.n;
    pseudo.refresh_waits = closed - std::min(closed, interval_begin_);
    if (shares && pseudo.refresh_waits > 0) {
      row_bus_.take(interval_begin_ + duration, static_cast<unsigned>(pseudo.refresh_waits));
    }
  }
  pseudo.quiet_from = interval_begin_ + duration + (interval == pseudo.refreshes ? pseudo.refresh_waits : 0);
  pseudo.quiet = interval_begin_ + interval_length_ - pseudo.quiet_from;
  return std::max(cycle, pseudo.quiet_from);
}

DramSchedule::Cycle DramSchedule::activate(const Place& place, Cycle from) {
  const auto length = static_cast<unsigned>(parameters_.activate_cycles.n);
  const auto other_group = static_cast<unsigned>(parameters_.tRRDS.n);
  const auto same_group = static_cast<unsigned>(parameters_.tRRDL.n);
  Cycle at = after_refresh(place.pseudo, from);
  if (same_group > other_group) at = place.group.activates.take(at, same_group) - (same_group - 1);
  at = place.pseudo.activates.take(at, other_group) - (other_group - 1);
  if (parameters_.tFAW.n > 4 * parameters_.tRRDS.n) {
    at = place.pseudo.activate_window.acquire({at}).ps;
    place.pseudo.activate_window.occupy({at}, {at + parameters_.tFAW.n});
  }
  // A command's cycles follow each other.
  at = row_bus_.first_run(after_refresh(place.pseudo, at), length);
  row_bus_.book(at, length);
  at += length - 1;
  place.pseudo.last_activate = std::max(place.pseudo.last_activate, at);
  return at;
}

std::size_t DramSchedule::open_row(const Place& place, std::uint64_t row, Cycle at, std::size_t next, bool write,
                                   Cycle& prepared) {
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  const bool closes = parameters_.page_policy == DramPagePolicy::closed;
  Cycle from = at + ahead;
  Cycle precharge = 0;
  prepared = ahead;
  const BankTimeline::Opening* before = place.bank.before(next);
  if (before != nullptr && !closes && std::max(at, before->free) < before->limit) {
    ++statistics_.row_conflicts;
    prepared = parameters_.tRP.n;
    precharge = row_bus_.take(std::max(at, before->free), 1);
    const Cycle closed = precharge < before->limit ? precharge + parameters_.tRP.n : precharge;
    from = std::max(closed, before->activate + parameters_.tRC.n);
  } else {
    ++statistics_.row_empty;
    if (before != nullptr) from = std::max({from, before->activate + parameters_.tRC.n, before->free + parameters_.tRP.n});
  }
  prepared += parameters_.tRCDRD.n;
  const Cycle activated = activate(place, from - ahead);
  const Cycle column = write ? parameters_.tRCDWR.n + write_recovery_ : parameters_.tRCDRD.n + parameters_.tRTP.n;
  const Cycle free = activated + std::max(parameters_.tRAS.n, column);
  return place.bank.insert(next,
                           {.row = row,
                            .arrived = at,
                            .activate = activated,
                            .free = free,
                            .work = column,
                            .closed = closes ? free : BankTimeline::kOpen,
                            .limit = next_refresh(activated)},
                           precharge, bank_timing_, horizon_);
}

DramSchedule::Cycle DramSchedule::column(const Place& place, Cycle from) {
  const auto any = static_cast<unsigned>(column_gap_);
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  if (same_group > any) from = place.group.columns.take(from, same_group) - (same_group - 1);
  from = place.pseudo.data.take(from, any) - (any - 1);
  if (pseudo_channels_.size() > 1) from = column_bus_.take(from, 1);
  place.pseudo.next_column = std::max(place.pseudo.next_column, from + 1);
  return from;
}

DramSchedule::Cycle DramSchedule::read_column(const DramLocation& location, Cycle at, Cycle& prepared) {
  const Place where = place(location);
  prepared = 0;
  if (parameters_.scheduler == DramScheduler::fcfs) at = std::max(at, where.pseudo.next_column);
  const bool closes = parameters_.page_policy == DramPagePolicy::closed;
  for (Cycle booked = 0;;) {
    at = after_refresh(where.pseudo, at);
    std::size_t opening = closes ? BankTimeline::kNone : where.bank.find(location.row, at);
    Cycle work = 0;  // of the opening's first column command: counted with it
    if (opening != BankTimeline::kNone) {
      ++statistics_.row_hits;
      prepared = 0;
      work = column_work_;
    } else {
      opening = open_row(where, location.row, at, where.bank.place(at, bank_timing_), false, prepared);
    }
    const BankTimeline::Opening& open = where.bank[opening];
    const Cycle ready = std::max(at, open.activate + parameters_.tRCDRD.n);
    booked = booked == 0 ? column(where, ready) : std::max(booked, ready);
    if (booked + parameters_.tRTP.n <= open.limit) {
      where.bank.use(opening, booked + parameters_.tRTP.n, work, bank_timing_);
      return booked;
    }
    // A refresh closes the row before it is this read's turn: then it is opened again, and the turn remains.
    at = open.limit;
  }
}

DramSchedule::Read DramSchedule::read(std::uint64_t address, unsigned length, Tick at) {
  const Tick enters = read_queue_.acquire(at);
  const Cycle start = clock_.ceil(enters).n;
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Cycle done = start;
  Cycle longest = 0;
  Cycle left = start;
  for (std::uint64_t burst = first; burst <= last; ++burst) {
    const DramLocation location = map_.locate(burst);
    if (is_pending(pseudo_channels_[location.pseudo_channel], burst)) {
      ++statistics_.forwarded;
      done = std::max(done, start + burst_);
      longest = std::max(longest, burst_);
      continue;
    }
    Cycle prepared = 0;
    const Cycle column = read_column(location, start, prepared);
    statistics_.bus_busy += time(burst_);
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
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Tick accepted = at;
  for (std::uint64_t burst = address >> burst_shift_; burst <= last; ++burst) {
    accepted = write_queue_.acquire(accepted);
    const DramLocation location = map_.locate(burst);
    PseudoChannel& pseudo = pseudo_channels_[location.pseudo_channel];
    pseudo.writes.push_back({burst, location, clock_.ceil(accepted).n});
    pseudo.written |= std::uint64_t{1} << (burst & 63);
    if (pseudo.writes.size() >= parameters_.write_drain) drain(pseudo, clock_.ceil(accepted).n);
  }
  return accepted;
}

bool DramSchedule::is_pending(const PseudoChannel& pseudo, std::uint64_t burst) const {
  if ((pseudo.written >> (burst & 63) & 1) == 0) return false;
  return std::any_of(pseudo.writes.begin(), pseudo.writes.end(), [burst](const PendingWrite& w) { return w.burst == burst; });
}

void DramSchedule::drain(PseudoChannel& pseudo, Cycle at) {
  at = after_refresh(pseudo, at);
  batch_.clear();
  Cycle first = 0;
  Cycle next = at;
  // One row of each bank at a time, as long as they can follow each other.
  for (std::size_t before = ~std::size_t{0}; before != batch_.size() && !pseudo.writes.empty();) {
    before = batch_.size();
    plan_writes(pseudo, next);
    if (plan_.empty()) break;
    if (batch_.empty()) next = first = std::max(at + before_write_, plan_.front().ready);
    for (const PlannedWrite& write : plan_) {
      const Cycle column = std::max(next, write.ready);
      if (column > next + before_write_ + after_write_) {
        keep(pseudo, write.write);
        continue;
      }
      next = column + column_gap_;
      batch_.push_back({write.write.accepted, column});
      write.bank->use(write.opening, column + write_recovery_, write.work, bank_timing_);
    }
  }

  // The bus is theirs from the last read on until the next may follow.
  const Cycle begin = first - before_write_;
  const auto length = static_cast<unsigned>(next + after_write_ - begin);
  const Cycle late = pseudo.writing.take(begin, length) + 1 - (begin + length);
  pseudo.data.take(begin, length);
  for (const Written& write : batch_) {
    const Tick left = time(write.column + late);
    write_queue_.occupy(time(std::max(at, write.accepted)), later(left, time(write.accepted)));
  }
  statistics_.bus_busy += time(burst_ * batch_.size());
  ++statistics_.write_drains;
}

void DramSchedule::keep(PseudoChannel& pseudo, const PendingWrite& write) {
  pseudo.writes.push_back(write);
  pseudo.written |= std::uint64_t{1} << (write.burst & 63);
}

void DramSchedule::plan_writes(PseudoChannel& pseudo, Cycle at) {
  const bool closes = parameters_.page_policy == DramPagePolicy::closed;
  const bool first = batch_.empty();
  plan_.clear();
  candidates_.swap(pseudo.writes);
  pseudo.writes.clear();
  pseudo.written = 0;
  for (const PendingWrite& write : candidates_) {
    const Place where = place(write.location);
    const auto same = std::find_if(plan_.begin(), plan_.end(), [&](const PlannedWrite& p) { return p.bank == &where.bank; });
    if (same != plan_.end() && same->write.location.row != write.location.row) {
      keep(pseudo, write);
      continue;
    }
    Cycle work = column_work_;
    std::size_t opening = same != plan_.end() ? same->opening : BankTimeline::kNone;
    if (opening == BankTimeline::kNone) {
      work = write_recovery_;
      if (!closes) opening = where.bank.find(write.location.row, at);
    }
    if (opening != BankTimeline::kNone) {
      ++statistics_.row_hits;
    } else {
      const std::size_t next = where.bank.place_now(at);
      // A write whose row is open later than the bus would be back from another turn waits for that.
      if (const auto* before = where.bank.before(next);
          !first && before != nullptr &&
          before->free + parameters_.tRP.n + parameters_.tRCDWR.n > at + before_write_ + after_write_) {
        keep(pseudo, write);
        continue;
      }
      Cycle prepared = 0;
      opening = open_row(where, write.location.row, at, next, true, prepared);
      work = 0;
    }
    const Cycle ready = where.bank[opening].activate + parameters_.tRCDWR.n;
    // In the order in which they are ready.
    auto place = plan_.end();
    while (place != plan_.begin() && (place - 1)->ready > ready) --place;
    plan_.insert(place, {write, &where.bank, opening, ready, work});
  }
}

void DramSchedule::retire(Tick horizon) {
  const Cycle cycle = clock_.floor(horizon).n;
  horizon_ = cycle;
  for (PseudoChannel& pseudo : pseudo_channels_) {
    // Not when somebody comes late: others may come before.
    while (!pseudo.writes.empty() && pseudo.writes.front().accepted + parameters_.write_idle.n < cycle) {
      drain(pseudo, pseudo.writes.front().accepted + parameters_.write_idle.n);
    }
    pseudo.data.retire(cycle);
    pseudo.writing.retire(cycle);
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
  for (BankTimeline& bank : banks_) bank.clear();
  horizon_ = 0;
  row_bus_.reset();
  column_bus_.reset();
  read_queue_.reset();
  write_queue_.reset();
}

}  // namespace lacuna
