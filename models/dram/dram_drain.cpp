// The writes of a DRAM schedule: their queue, and when they are drained.
#include <algorithm>

#include "models/dram/dram_schedule.h"

namespace lacuna {
namespace {

// Among so many writes that are ready soonest, one is chosen whose bank group is free.
constexpr std::size_t kWritesCompared = 8;
// While reads may come at any time, so many of the oldest writes are tried.
constexpr std::size_t kWritesTried = 6;
// Reads that come within so many times a drain's length wait for those that it should have postponed.
constexpr std::uint64_t kDrainsRemembered = 4;

}  // namespace

Tick DramSchedule::write(std::uint64_t address, unsigned length, Tick at) {
  const std::uint64_t last = (address + length - 1) >> burst_shift_;
  Tick accepted = at;
  for (std::uint64_t burst = address >> burst_shift_; burst <= last; ++burst) {
    const Cycle cycle = clock_.ceil(accepted).n;
    Cycle enters = write_queue_.accept(cycle, writes_.size());
    if (enters > cycle) {
      write_idle(cycle);
      enters = write_queue_.accept(cycle, writes_.size());
    }
    if (enters > cycle) accepted = time(enters);
    const DramLocation location = map_.locate(burst);
    writes_.push_back({burst, location.row, enters, static_cast<std::uint32_t>(bank_of(location)), false, false});
    ++unprepared_;
    ++written_[burst % written_.size()];
    if (writes_.size() > write_high_) {
      write_idle(enters);
      if (writes_.size() > write_high_) drain(enters, enters);
    } else if (writes_.size() > write_low_ && enters - drain_begin_ < drain_length_) {
      drain(enters, enters);  // one more of the drain that is under way
    }
  }
  return accepted;
}

bool DramSchedule::is_pending(std::uint64_t burst) const {
  if (written_[burst % written_.size()] == 0) return false;
  return std::any_of(writes_.begin(), writes_.end(), [burst](const PendingWrite& w) { return w.burst == burst; });
}

void DramSchedule::drain_idle(Cycle until) {
  if (writes_.size() <= write_low_ && unprepared_ == 0) {
    const auto may_write = [&](const PseudoChannel& pseudo) { return first_write(pseudo, reads_until_, true) < until; };
    if (std::none_of(pseudo_channels_.begin(), pseudo_channels_.end(), may_write)) return;
  }
  drain(reads_until_, until);
}

DramSchedule::Cycle DramSchedule::first_write(const PseudoChannel& pseudo, Cycle from, bool idle) const {
  if (from < pseudo.writes_until && from - drain_begin_ < drain_length_) return std::max(from, pseudo.next_write);
  const Cycle turned = pseudo.next_column > pseudo.next_write ? before_write_ : 0;
  const Cycle read = idle ? pseudo.next_column + column_gap_ - 1 : from;
  return std::max({from, pseudo.next_write, read + turned});
}

void DramSchedule::drain(Cycle from, Cycle until) {
  // When no read waits, the reads that are booked have begun and go first. Otherwise they are what the writes go before.
  const bool idle = from >= reads_until_;
  // One that is under way takes what comes in it and is ready in it, unless it must take more.
  const bool goes_on = !idle && from - drain_begin_ < drain_length_ && writes_.size() <= write_high_;
  plan_.clear();
  ++drain_;
  for (PseudoChannel& pseudo : pseudo_channels_) {
    pseudo.turn_begin = pseudo.turn_next = pseudo.planned_next = first_write(pseudo, from, idle);
  }
  // First what can be written at once, then what the bus would not rather turn back for, then what has to be waited for.
  enum { kAtOnce, kInOneTurn, kAtAll };
  const unsigned first_patience = idle && writes_.size() > write_low_ ? kAtOnce : kInOneTurn;
  Cycle last_begins = from;
  for (unsigned patience = first_patience;;) {
    const std::size_t planned = plan_.size();
    Cycle first = ~Cycle{0};
    Cycle last = 0;
    for (const PseudoChannel& pseudo : pseudo_channels_) {
      first = std::min(first, pseudo.turn_next);
      last = std::max(last, pseudo.turn_next);
    }
    Cycle soon = ~Cycle{0};
    if (patience == kAtOnce) soon = first + column_gap_;
    if (patience == kInOneTurn) soon = std::max(last, until) + before_write_ + after_write_;
    if (goes_on) soon = drain_begin_ + drain_length_;
    const PlanLimits limits{.from = from, .until = until, .soon = soon, .pass = planned, .idle = idle, .goes_on = goes_on};
    if (writes_.size() > write_low_) plan_writes(limits, true);
    plan_writes(limits, false);
    const bool any = plan_.size() > planned;
    if (any) issue_writes(planned);
    for (std::size_t i = planned; i < plan_.size() && patience != kAtAll; ++i)
      last_begins = std::max(last_begins, plan_[i].begins);
    if (goes_on || (!any && (patience == kAtAll || (patience == kInOneTurn && writes_.size() <= write_low_)))) break;
    patience = any ? first_patience : patience + 1;
  }
  if (plan_.empty()) return;
  for (PseudoChannel& pseudo : pseudo_channels_) book_turn(pseudo);
  for (const PlannedWrite& write : plan_) write_queue_.hold(write.accepted, write.column);
  statistics_.bus_busy += time(burst_ * plan_.size());
  postpone_reads(from, last_begins);
}

void DramSchedule::postpone_reads(Cycle from, Cycle until) {
  const bool goes_on = from - drain_begin_ < drain_length_;
  const Cycle before = goes_on ? drain_begin_ + drain_length_ : from;
  const auto waits = [from](Cycle begins) { return begins > from; };
  const auto waiting = static_cast<std::uint64_t>(std::count_if(booked_reads_.begin(), booked_reads_.end(), waits));
  if (!goes_on) {
    drain_begin_ = from;
    drain_length_ = 0;
    std::fill(booked_reads_.begin(), booked_reads_.end(), 0);
  }
  const Cycle longer = until - std::min(until, before);
  drain_length_ += longer;
  if (waiting == 0 || longer == 0) return;
  postponed_ = waiting * longer + (goes_on ? postponed_ : 0);
  postponed_by_ = drain_length_;
  postponed_until_ = drain_begin_ + kDrainsRemembered * drain_length_;
}

void DramSchedule::plan_writes(const PlanLimits& limits, bool hits) {
  const std::size_t count = writes_.size();
  std::size_t kept = 0;
  std::size_t i = 0;
  std::size_t tried = 0;
  for (; i < count; ++i) {
    const bool forced = kept + (count - i) > write_low_;
    if (!forced && limits.from >= limits.until) break;
    if (!forced && place(writes_[i].bank).pseudo.planned_next >= limits.until && writes_[i].prepared) {
      if (kept != i) writes_[kept] = writes_[i];
      ++kept;
      continue;
    }
    if (!forced && ++tried > kWritesTried) break;
    if (plan_write(writes_[i], limits, forced, hits)) continue;
    if (kept != i) writes_[kept] = writes_[i];
    ++kept;
  }
  if (kept == i) return;
  const auto rest = writes_.begin() + static_cast<std::ptrdiff_t>(i);
  writes_.erase(std::copy(rest, writes_.end(), writes_.begin() + static_cast<std::ptrdiff_t>(kept)), writes_.end());
}

bool DramSchedule::plan_write(PendingWrite& write, const PlanLimits& limits, bool forced, bool hits) {
  Cycle at = std::max(limits.from, write.accepted);
  if (!forced && at >= limits.until) return false;
  const Place where = place(write.bank);
  at = after_refresh(where.pseudo, at);
  std::size_t opening = BankTimeline::kNone;
  BankPlan& same = bank_plans_[where.index];
  if (same.drain == drain_) {
    const PlannedWrite& other = plan_[same.index];
    if (same.index < limits.pass) {
      at = std::max(at, where.bank[other.opening].activate);
    } else if (other.row == write.row) {
      opening = other.opening;
    } else {
      return false;  // one row of each bank at a time
    }
  }
  if (opening == BankTimeline::kNone && parameters_.page_policy == DramPagePolicy::open) {
    opening = where.bank.find(write.row, at);
  }
  Cycle work = column_work_;
  Cycle begins = 0;
  if (opening != BankTimeline::kNone) {
    const Cycle open = where.bank[opening].activate + parameters_.tRCDWR.n;
    if (!forced && std::max({open, at, where.pseudo.planned_next}) >= limits.until) {
      prepare(write);
      return false;
    }
    if (open > limits.soon || ((limits.idle || limits.goes_on) && where.pseudo.planned_next > limits.soon)) return false;
    statistics_.row_hits += !write.opened;
  } else {
    if (hits) return false;
    const std::size_t next = where.bank.place_now(at);
    const RowChange change = row_change(where.bank.before(next), at);
    if (!forced && change.activate >= limits.until) {
      // It gets as far as to close the row that is open.
      if (change.conflict && change.precharge < limits.until && where.bank[next - 1].closed == BankTimeline::kOpen) {
        where.bank.close(next - 1, change.precharge);
        row_bus_.take(change.precharge, 1);
      }
      return false;
    }
    if (change.activate + parameters_.tRCDWR.n > limits.soon) return false;
    opening = open_row_to_write(where, write.row, at, next);
    begins = where.bank[opening].activate;
    write.opened = true;
    prepare(write);
    work = 0;  // counted with the opening
    // Reads that come before it is open go first.
    if (!forced && begins + parameters_.tRCDWR.n >= limits.until) return false;
  }
  where.pseudo.planned_next += column_gap_;
  const Cycle ready = std::max(at, where.bank[opening].activate + parameters_.tRCDWR.n);
  same = {drain_, plan_.size()};
  plan_.push_back({.row = write.row,
                   .accepted = write.accepted,
                   .pseudo = &where.pseudo,
                   .group = &where.group,
                   .bank = where.index,
                   .opening = opening,
                   .ready = ready,
                   .work = work,
                   .begins = begins,
                   .column = 0});
  --written_[write.burst % written_.size()];
  prepare(write);
  return true;
}

void DramSchedule::issue_writes(std::size_t pass) {
  // Those that are ready first go first: nearly the order in which they were planned.
  for (std::size_t i = pass + 1; i < plan_.size(); ++i) {
    for (std::size_t j = i; j > pass && plan_[j - 1].ready > plan_[j].ready; --j) std::swap(plan_[j - 1], plan_[j]);
  }
  const auto earliest = [this](const PlannedWrite& w) { return std::max({w.pseudo->turn_next, w.ready, w.group->next_write}); };
  for (std::size_t i = pass; i < plan_.size(); ++i) {
    // One that need not wait for its bank group goes before one that has to.
    const std::size_t end = std::min(plan_.size(), i + kWritesCompared);
    std::size_t best = i;
    for (std::size_t j = i + 1; j < end; ++j) {
      if (plan_[j].pseudo == plan_[i].pseudo && earliest(plan_[j]) < earliest(plan_[best])) best = j;
    }
    std::rotate(plan_.begin() + static_cast<std::ptrdiff_t>(i), plan_.begin() + static_cast<std::ptrdiff_t>(best),
                plan_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    PlannedWrite& write = plan_[i];
    PseudoChannel& pseudo = *write.pseudo;
    bank_plans_[write.bank].index = i;
    write.column = earliest(write);
    if (write.column > pseudo.turn_next + before_write_ + after_write_ && pseudo.turn_next != pseudo.turn_begin) {
      book_turn(pseudo);
      pseudo.turn_begin = pseudo.turn_next;
    }
    if (pseudo.turn_next == pseudo.turn_begin) pseudo.turn_begin = write.column;
    pseudo.turn_next = write.column + column_gap_;
    write.group->next_write = write.column + parameters_.tCCDL.n;
    write.group->next_read = write.column + write_to_read_;
    if (write.begins == 0) write.begins = write.column;
    banks_[write.bank].use(write.opening, write.column + write_recovery_, write.work, bank_timing_);
  }
  for (PseudoChannel& pseudo : pseudo_channels_) pseudo.planned_next = pseudo.turn_next;
}

void DramSchedule::book_turn(PseudoChannel& pseudo) {
  if (pseudo.turn_next == pseudo.turn_begin) return;
  // The bus is theirs from the last read on until the next may follow.
  const bool goes_on = pseudo.turn_begin < pseudo.writes_until;
  const Cycle end = pseudo.turn_next + after_write_;
  const Cycle begin = goes_on ? pseudo.writes_until : std::max(pseudo.turn_begin - before_write_, pseudo.writes_until);
  if (end > begin) pseudo.data.take(begin, static_cast<unsigned>(end - begin));
  const bool turns = pseudo.next_column > pseudo.next_write || pseudo.next_write == 0;
  statistics_.write_drains += turns && !goes_on;
  pseudo.next_write = pseudo.turn_next;
  pseudo.writes_until = end;
}

std::size_t DramSchedule::open_row_to_write(const Place& place, std::uint64_t row, Cycle at, std::size_t next) {
  const auto other_group = static_cast<unsigned>(parameters_.tRRDS.n);
  const auto same_group = static_cast<unsigned>(parameters_.tRRDL.n);
  PseudoChannel& pseudo = place.pseudo;
  RowChange change = row_change(place.bank.before(next), at);
  ++(change.conflict ? statistics_.row_conflicts : statistics_.row_empty);
  const auto commands = static_cast<unsigned>(parameters_.activate_cycles.n) + (change.conflict ? 1 : 0);
  const Cycle turn = std::max(next_row_command_, pseudo.next_activate) + parameters_.activate_cycles.n - 1;
  const Cycle activated = after_refresh(pseudo, std::max(change.activate, turn));
  if (change.conflict) change.precharge = activated - parameters_.tRP.n;
  next_row_command_ = std::max(next_row_command_, at) + commands;
  pseudo.next_activate = std::max(pseudo.next_activate, at) + activate_gap_;
  pseudo.last_activate = std::max(pseudo.last_activate, activated);
  // Reads that are booked keep their cycles; those that come find so many less.
  row_bus_.take(at, commands);
  if (same_group > other_group) place.group.activates.take(at, same_group);
  pseudo.activates.take(at, other_group);
  if (parameters_.tFAW.n > 4 * parameters_.tRRDS.n) {
    const Tick window = pseudo.activate_window.acquire({at});
    pseudo.activate_window.occupy(window, {window.ps + parameters_.tFAW.n});
  }
  return insert_row(place, next, row, at, activated, parameters_.tRCDWR.n + write_recovery_, change.precharge);
}

}  // namespace lacuna
