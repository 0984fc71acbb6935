// Effects of issued commands: earliest cycles of further commands, and completion of requests.
#include <algorithm>

#include "models/dram/command_scheduler.h"
#include "models/dram/detail/inline_scheduling.h"

namespace lacuna {
namespace {

// Size of Ramulator2's buffer of requests whose rows are being opened.
constexpr std::size_t kMostOpened = 32;

void at_least(std::uint64_t& cycle, std::uint64_t bound) { cycle = std::max(cycle, bound); }

}  // namespace

inline void CommandScheduler::remove(Bank& bank, Index index) {
  Request& request = requests_[index];
  Index* place = &bank.first[request.kind];
  Index before = kNone;
  for (; *place != index; place = &requests_[before].next) before = *place;
  *place = request.next;
  if (request.next == kNone) {
    bank.last[request.kind] = before;
    const auto arrival = [this](Index i) { return i != kNone ? requests_[i].at : 0; };
    bank.latest = std::max(arrival(bank.last[kReads]), arrival(bank.last[kWrites]));
  }
  if (request.kind == kWrites) {
    place = &written_[request.number % written_.size()];
    while (*place != index) place = &requests_[*place].next_written;
    *place = request.next_written;
  }
  request.sequence = kNotEntered;
  request.next = free_;
  free_ = index;
  --waiting_;
}

void CommandScheduler::note_error(const Request& request) {
  const auto error = static_cast<std::int64_t>(now_ - request.column);
  owed_ += error;
  error_sum_ += error - errors_[next_error_];
  errors_[next_error_] = error;
  next_error_ = next_error_ + 1 == reads_ ? 0 : next_error_ + 1;
}

void CommandScheduler::clear_errors() {
  owed_ = error_sum_ = 0;
  std::fill(errors_.begin(), errors_.end(), 0);
}

void CommandScheduler::issue_column() {
  const DramParameters& p = parameters_;
  const Cycle now = now_;
  const std::uint32_t index = columns_.bank;
  Bank& bank = banks_[index];
  Group& group = *bank.group;
  Pseudo& pseudo = *bank.pseudo;
  const Index served = columns_.served;
  const Request& request = requests_[served];
  // Assigns instead of taking the maximum: bounds set by earlier commands have passed or are lower.
  const AfterColumn& after = after_column_[request.kind];
  pseudo.column = {now + after.pseudo[kReads], now + after.pseudo[kWrites]};
  group.column = {now + after.group[kReads], now + after.group[kWrites]};
  at_least(bank.precharge, now + after.precharge);
  columns_.free = issued_until_ = now + 1;
  if (request.kind == kWrites) {
    pseudo.after_writes = now + after.pseudo_reads;
    group.after_writes = now + after.group_reads;
    statistics_.write_drains += !pseudo.writing;
    pseudo.writing = true;
    statistics_.bus_busy += burst_time_;
    ++(request.first == Command::column      ? statistics_.row_hits
       : request.first == Command::precharge ? statistics_.row_conflicts
                                             : statistics_.row_empty);
  } else {
    pseudo.writing = false;
    --waiting_reads_;
    if (request.requester == kNoRequester) {
      note_error(request);
    } else {
      decisions_.push_back({request.requester, request.first, now});
    }
  }
  const bool counts_for_both = request.opened || closes_;
  if (request.opened) {
    --opened_[request.kind];
    --bank.opened[request.kind];
  } else {
    queues_[request.kind].depart(now_);
  }
  columns_.known = false;
  if (in_order_) at_least(rows_.free, now_ + 1);  // the next request's commands start in the next cycle
  remove(bank, served);
  tails_[index].known = false;
  if (closes_) {
    bank.open = false;
    at_least(bank.activate, bank.precharge + p.tRP.n - ahead_);
  }
  const Kind other = mode_ ^ 1;
  if (counts_for_both && bank.choices[other].command != Command::none) make_stale(index, other);
  const Next next = next_command(bank, mode_);
  if (next.command == Command::column && !in_order_) {
    serve(bank.choices[mode_], next);
  } else {
    choose(index, mode_, next);
  }
}

void CommandScheduler::issue_row() {
  const DramParameters& p = parameters_;
  const std::uint32_t index = rows_.bank;
  Bank& bank = banks_[index];
  Choice& choice = bank.choices[mode_];
  const Kind other = mode_ ^ 1;
  issued_until_ = now_ + 1;
  rows_.known = false;
  tails_[index].known = false;
  if (choice.command == Command::precharge) {
    bank.open = false;
    bank.conflict = true;
    at_least(bank.activate, now_ + p.tRP.n - std::min(p.tRP.n, ahead_));
    rows_.free = now_ + 1;
    choice.command = Command::activate;
    if (bank.choices[other].command != Command::none) make_stale(index, other);
    return;
  }
  const Cycle at = now_ + ahead_;  // timing counts from the command's last cycle
  Group& group = *bank.group;
  Pseudo& pseudo = *bank.pseudo;
  Request& request = requests_[choice.served];
  bank.open = true;
  bank.row = request.row;
  bank.activate = now_ + p.tRC.n;
  bank.precharge = at + p.tRAS.n;
  bank.column = {at + p.tRCDRD.n, at + p.tRCDWR.n};
  group.activate = now_ + p.tRRDL.n;
  pseudo.activates[pseudo.oldest_activate] = now_ + p.tFAW.n;
  pseudo.oldest_activate = (pseudo.oldest_activate + 1) % 4;
  pseudo.activate = std::max(now_ + p.tRRDS.n, pseudo.activates[pseudo.oldest_activate]);
  rows_.free = now_ + p.activate_cycles.n;
  if (request.first == Command::column) request.first = bank.conflict ? Command::precharge : Command::activate;
  bank.conflict = false;
  // `opened` is already set if a refresh closed the row that was opened for the request.
  if (!request.opened && opened_[kReads] + opened_[kWrites] < kMostOpened) {
    request.opened = true;
    ++opened_[request.kind];
    ++bank.opened[request.kind];
    queues_[request.kind].depart(now_);
  }
  if (request.opened || bank.choices[other].command != Command::none) make_stale(index, other);
  choose(index, mode_, bank.opened[mode_ ^ 1] != 0 ? next_of_both(bank, mode_) : Next{Command::column, choice.served});
}

void CommandScheduler::refresh(Cycle until) {
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  const Cycle interval = parameters_.tREFI.n;
  // Skips all but the last of the refreshes that pass while no request waits: only the last has an effect.
  const std::uint64_t passed = waiting_ == 0 && until > refresh_ ? (until - refresh_ - 1) / interval : 0;
  refresh_ += passed * interval;
  if (passed != 0) clear_errors();
  statistics_.refreshes += (passed + 1) * pseudos_.size();
  for (std::size_t pseudo = 0; pseudo < pseudos_.size(); ++pseudo) {
    const std::size_t first = pseudo << pseudo_shift_;
    const std::size_t last = first + (std::size_t{1} << pseudo_shift_);
    Cycle begin = refresh_;
    for (std::size_t index = first; index != last; ++index) {
      if (banks_[index].open) at_least(begin, banks_[index].precharge);
    }
    for (std::size_t index = first; index != last; ++index) {
      Bank& bank = banks_[index];
      bank.open = bank.conflict = tails_[index].known = false;
      at_least(bank.activate, begin + duration - ahead_);
    }
  }
  refresh_ += interval;
  columns_.known = rows_.known = false;
  for (std::uint32_t index = 0; index < banks_.size(); ++index) {
    const Bank& bank = banks_[index];
    if (bank.first[kReads] == kNone && bank.first[kWrites] == kNone) continue;
    make_stale(index, mode_ ^ 1);
    choose(index, mode_, next_command(bank, mode_));
  }
}

}  // namespace lacuna
