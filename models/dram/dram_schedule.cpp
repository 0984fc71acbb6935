#include "models/dram/dram_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
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
  if (p.write_low > p.write_high) throw std::invalid_argument("DRAM: write_low is at most write_high");
  if (p.tREFI.n != 0 && p.tREFI.n <= p.tRAS.n + p.tRP.n + p.tRFC.n) {
    throw std::invalid_argument("DRAM: tREFI is longer than tRAS + tRP + tRFC, or there is no time between refreshes");
  }
  return {p.pseudo_channels, p.bank_groups, p.banks_per_group, static_cast<unsigned>(p.row_size.n / burst)};
}

}  // namespace

DramSchedule::DramSchedule(const DramParameters& parameters, DramChannelPlace place)
    : parameters_(parameters),
      clock_(parameters.clock),
      map_(parameters.address_map, organization(parameters)),
      burst_shift_(static_cast<unsigned>(std::countr_zero(parameters.burst.n * parameters.bytes_per_cycle))),
      group_bits_(static_cast<unsigned>(std::countr_zero(parameters.bank_groups))),
      bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks_per_group))),
      burst_(parameters.burst.n),
      column_gap_(std::max(parameters.burst.n, parameters.tCCDS.n)),
      column_work_(std::max(column_gap_, parameters.tCCDL.n)),
      before_write_(parameters.tCL.n + parameters.tRTRS.n - std::min(parameters.tCL.n + parameters.tRTRS.n, parameters.tCWL.n)),
      after_write_(parameters.tCWL.n + std::min(parameters.tWTRS.n, parameters.tWTR.n)),
      pseudo_channels_(parameters.pseudo_channels),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups),
      banks_(groups_.size() * parameters.banks_per_group),
      bank_timing_{.precharge = parameters.tRP.n, .cycle = parameters.tRC.n, .active = parameters.tRAS.n},
      activate_gap_(std::max(parameters.tRRDS.n, (parameters.tFAW.n + 3) / 4)),
      write_to_read_(parameters.tCWL.n + parameters.burst.n + parameters.tWTR.n),
      write_recovery_(parameters.tCWL.n + parameters.burst.n + parameters.tWR.n),
      read_queue_(parameters.read_queue),
      write_queue_(parameters.write_queue),
      write_high_(std::min(static_cast<std::size_t>(parameters.write_high * parameters.write_queue),
                           std::size_t{parameters.write_queue} - 1)),
      write_low_(static_cast<std::size_t>(std::max(1.0, std::ceil(parameters.write_low * parameters.write_queue))) - 1),
      interval_length_(parameters.tREFI.n != 0 ? parameters.tREFI.n : ~Cycle{0}),
      ahead_(parameters.refresh_stagger == DramRefreshStagger::channels && place.index != 0
                 ? parameters.tREFI.n - parameters.tREFI.n * place.index / place.count
                 : 0),
      interval_begin_(~ahead_ + 1),
      booked_reads_(parameters.read_queue),
      bank_plans_(banks_.size()) {
  writes_.reserve(parameters.write_queue);
  plan_.reserve(parameters.write_queue);
}

DramSchedule::Cycle DramSchedule::find_refresh(PseudoChannel& pseudo, Cycle cycle) {
  const std::uint64_t interval = interval_of(cycle);
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  const bool shares = &pseudo == pseudo_channels_.data();  // one books the row bus for all, which are refreshed at once
  if (interval + 1 > pseudo.refreshes_booked && parameters_.tREFI.n != 0) {
    // The buses are not used in them; what waits now may reach into the next.
    for (std::uint64_t i = std::max({interval, pseudo.refreshes_booked + 1, std::uint64_t{1}}); i <= interval + 1; ++i) {
      const Cycle begin = i * parameters_.tREFI.n - ahead_;
      pseudo.data.take(begin, static_cast<unsigned>(duration));
      if (shares) row_bus_.take(begin, static_cast<unsigned>(duration));
    }
    pseudo.refreshes_booked = interval + 1;
  }
  if (interval == 0) {
    pseudo.quiet_from = 0;
    pseudo.quiet = interval_length_ - ahead_;
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

DramSchedule::RowChange DramSchedule::row_change(const BankTimeline::Opening* before, Cycle at) const {
  const Cycle first = at + parameters_.activate_cycles.n - 1;
  if (before == nullptr) return {first, 0, false};
  const Cycle cycle = before->activate + parameters_.tRC.n;
  if (before->closed <= at) return {std::max({first, cycle, before->closed + parameters_.tRP.n}), before->closed, false};
  const Cycle precharge = std::max(at, before->free);
  if (parameters_.page_policy == DramPagePolicy::closed || precharge >= before->limit) {
    return {std::max({first, cycle, before->free + parameters_.tRP.n}), 0, false};
  }
  return {std::max(cycle, precharge + parameters_.tRP.n), precharge, true};
}

std::size_t DramSchedule::insert_row(const Place& place, std::size_t next, std::uint64_t row, Cycle at, Cycle activated,
                                     Cycle work, Cycle precharge) {
  const Cycle free = activated + std::max(parameters_.tRAS.n, work);
  return place.bank.insert(next,
                           {.row = row,
                            .arrived = at,
                            .activate = activated,
                            .free = free,
                            .work = work,
                            .closed = parameters_.page_policy == DramPagePolicy::closed ? free : BankTimeline::kOpen,
                            .limit = next_refresh(activated)},
                           precharge, bank_timing_, horizon_);
}

std::size_t DramSchedule::open_row(const Place& place, std::uint64_t row, Cycle at, std::size_t next, Cycle& prepared) {
  const Cycle ahead = parameters_.activate_cycles.n - 1;
  const BankTimeline::Opening* before = place.bank.before(next);
  RowChange change = row_change(before, at);
  prepared = ahead;
  if (change.conflict) {
    ++statistics_.row_conflicts;
    prepared = parameters_.tRP.n;
    change.precharge = row_bus_.take(change.precharge, 1);
    const Cycle closed = change.precharge < before->limit ? change.precharge + parameters_.tRP.n : change.precharge;
    change.activate = std::max(closed, before->activate + parameters_.tRC.n);
  } else {
    ++statistics_.row_empty;
  }
  prepared += parameters_.tRCDRD.n;
  const Cycle activated = activate(place, change.activate - ahead);
  return insert_row(place, next, row, at, activated, parameters_.tRCDRD.n + parameters_.tRTP.n, change.precharge);
}

DramSchedule::Cycle DramSchedule::column(const Place& place, Cycle from) {
  const auto any = static_cast<unsigned>(column_gap_);
  const auto same_group = static_cast<unsigned>(parameters_.tCCDL.n);
  if (from < place.group.next_read && place.group.next_read - from < write_to_read_) from = place.group.next_read;
  if (same_group > any) from = place.group.columns.take(from, same_group) - (same_group - 1);
  from = place.pseudo.data.take(from, any) - (any - 1);
  if (pseudo_channels_.size() > 1) from = column_bus_.take(from, 1);
  place.pseudo.next_column = std::max(place.pseudo.next_column, from + 1);
  return from;
}

DramSchedule::Cycle DramSchedule::read_column(const DramLocation& location, Cycle at, Cycle& prepared) {
  const Place where = place(bank_of(location));
  prepared = 0;
  if (parameters_.scheduler == DramScheduler::fcfs) at = std::max(at, where.pseudo.next_column);
  const bool closes = parameters_.page_policy == DramPagePolicy::closed;
  // In a drain, nothing of a read that comes is begun.
  if (at - drain_begin_ < drain_length_) at = drain_begin_ + drain_length_;
  Cycle begins = 0;
  for (Cycle booked = 0;;) {
    at = after_refresh(where.pseudo, at);
    std::size_t opening = closes ? BankTimeline::kNone : where.bank.find(location.row, at);
    Cycle work = 0;  // of the opening's first column command: counted with it
    if (opening != BankTimeline::kNone) {
      ++statistics_.row_hits;
      prepared = 0;
      work = column_work_;
    } else {
      opening = open_row(where, location.row, at, where.bank.place(at, bank_timing_), prepared);
      begins = where.bank[opening].activate;
    }
    const BankTimeline::Opening& open = where.bank[opening];
    const Cycle ready = std::max(at, open.activate + parameters_.tRCDRD.n);
    booked = booked == 0 ? column(where, ready) : std::max(booked, ready);
    if (booked + parameters_.tRTP.n <= open.limit) {
      where.bank.use(opening, booked + parameters_.tRTP.n, work, bank_timing_);
      if (begins == 0) begins = booked;
      booked_reads_[next_booked_] = begins;
      next_booked_ = next_booked_ + 1 == booked_reads_.size() ? 0 : next_booked_ + 1;
      reads_until_ = std::max(reads_until_, begins + 1);
      return booked;
    }
    // A refresh closes the row before it is this read's turn: then it is opened again, and the turn remains.
    at = open.limit;
  }
}

DramSchedule::Cycle DramSchedule::postponed_instead(Cycle at) {
  if (postponed_ == 0 || at >= postponed_until_) return 0;
  const Cycle share = std::min(postponed_, postponed_by_);
  postponed_ -= share;
  return share;
}

DramSchedule::Read DramSchedule::read(std::uint64_t address, unsigned length, Tick at) {
  const Tick enters = read_queue_.acquire(at);
  const Cycle start = clock_.ceil(enters).n;
  write_idle(start);
  const std::uint64_t first = address >> burst_shift_;
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Cycle done = start;
  Cycle longest = 0;
  Cycle left = start;
  for (std::uint64_t burst = first; burst <= last; ++burst) {
    const DramLocation location = map_.locate(burst);
    if (is_pending(burst)) {
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
  done += postponed_instead(start);
  const Tick finished = time(done);
  const Tick unloaded = time(longest);
  const Tick waiting = finished > at + unloaded ? finished - at - unloaded : Tick{};
  statistics_.queueing += waiting;
  return {finished, waiting};
}

void DramSchedule::retire(Tick horizon) {
  const Cycle cycle = clock_.floor(horizon).n;
  horizon_ = cycle;
  write_idle(cycle);
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
  write_queue_.retire(cycle);
}

void DramSchedule::reset() {
  for (PseudoChannel& pseudo : pseudo_channels_) pseudo = PseudoChannel{};
  for (Group& group : groups_) group = Group{};
  for (BankTimeline& bank : banks_) bank.clear();
  horizon_ = 0;
  row_bus_.reset();
  column_bus_.reset();
  read_queue_.reset();
  write_queue_.clear();
  writes_.clear();
  unprepared_ = 0;
  written_.fill(0);
  std::fill(booked_reads_.begin(), booked_reads_.end(), 0);
  reads_until_ = next_row_command_ = 0;
  drain_begin_ = drain_length_ = 0;
  postponed_ = postponed_by_ = postponed_until_ = 0;
}

}  // namespace lacuna
