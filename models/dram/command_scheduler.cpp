#include "models/dram/command_scheduler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lacuna {
namespace {

// Ramulator2's buffer of requests whose rows are being opened.
constexpr std::size_t kMostOpened = 32;

unsigned bits_of(unsigned count) { return static_cast<unsigned>(std::countr_zero(count)); }
void at_least(std::uint64_t& cycle, std::uint64_t bound) { cycle = std::max(cycle, bound); }
// By value: std::max of several members is compiled to a choice of addresses.
std::uint64_t latest_of(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  b = b < c ? c : b;
  return a < b ? b : a;
}

}  // namespace

CommandScheduler::CommandScheduler(const DramParameters& parameters, const RefreshTimes& refresh, DramStatistics& statistics)
    : parameters_(parameters),
      bank_bits_(bits_of(parameters.banks_per_group)),
      pseudo_shift_(bank_bits_ + bits_of(parameters.bank_groups)),
      tail_timing_(parameters),
      ahead_(parameters.activate_cycles.n - 1),
      after_column_(after_column(parameters)),
      burst_time_(parameters.clock.period() * parameters.burst.n),
      first_refresh_(refresh.first()),
      in_order_(parameters.scheduler == DramScheduler::fcfs),
      closes_(parameters.page_policy == DramPagePolicy::closed),
      high_(static_cast<std::size_t>(parameters.write_high * parameters.write_queue)),
      low_(static_cast<std::size_t>(std::max(1.0, std::ceil(parameters.write_low * parameters.write_queue)))),
      statistics_(statistics),
      refresh_(first_refresh_),
      columns_{.banks = {BankSet(parameters.pseudo_channels << pseudo_shift_),
                         BankSet(parameters.pseudo_channels << pseudo_shift_)}},
      rows_(columns_),
      queues_{RequestQueue(parameters.read_queue), RequestQueue(parameters.write_queue)},
      banks_(std::size_t{parameters.pseudo_channels} << pseudo_shift_),
      tails_(banks_.size()),
      groups_(banks_.size() >> bank_bits_),
      pseudos_(parameters.pseudo_channels),
      errors_(parameters.read_queue) {
  written_.fill(kNone);
  connect_banks();
}

std::array<CommandScheduler::AfterColumn, 2> CommandScheduler::after_column(const DramParameters& p) {
  const Cycle other_group = std::max(p.burst.n, p.tCCDS.n);
  const Cycle same_group = std::max(p.burst.n, p.tCCDL.n);
  const Cycle read_end = p.tCL.n + p.burst.n;
  const Cycle write_end = p.tCWL.n + p.burst.n;
  const Cycle turn = std::max(read_end + p.tRTRS.n, p.tCWL.n) - p.tCWL.n;
  AfterColumn read{{other_group, std::max(other_group, turn)}, {same_group, same_group}, p.tRTP.n};
  AfterColumn write{{std::max(other_group, write_end + std::min(p.tWTRS.n, p.tWTR.n)), other_group},
                    {std::max(same_group, write_end + p.tWTR.n), same_group},
                    write_end + p.tWR.n};
  return {read, write};
}

void CommandScheduler::connect_banks() {
  for (std::size_t index = 0; index < banks_.size(); ++index) {
    banks_[index].group = &groups_[index >> bank_bits_];
    banks_[index].pseudo = &pseudos_[index >> pseudo_shift_];
  }
}

CommandScheduler::Index CommandScheduler::add(const Burst& burst, Cycle at, Cycle column, Kind kind) {
  Index index = free_;
  if (index != kNone) [[likely]] {
    free_ = requests_[index].next;
  } else {
    index = static_cast<Index>(requests_.size());
    requests_.emplace_back();
  }
  requests_[index] = {.row = burst.row,
                      .number = burst.number,
                      .at = at,
                      .column = column,
                      .told = told_++,
                      .order = kNotEntered,
                      .bank = burst.bank,
                      .next = kNone,
                      .next_written = kNone,
                      .kind = kind,
                      .opened = false};
  ++waiting_;
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

void CommandScheduler::link(Bank& bank, Index index) {
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

void CommandScheduler::remove(Bank& bank, Index index) {
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
  request.next = free_;
  free_ = index;
  --waiting_;
}

BankTail CommandScheduler::find_tail(std::uint32_t index, Cycle at, Cycle refreshed) const {
  // First what the decided commands leave, then what each of the reads makes of it.
  const Bank& bank = banks_[index];
  BankTail tail;
  tail.known = true;
  tail.activate = bank.activate + ahead_;
  if (bank.open && refresh_ > refreshed) {
    tail.count = 1;
    tail.precharge = bank.precharge;
    tail.openings[0] = {.row = bank.row, .column = bank.column[kReads], .closed = kNever};
  }
  for (Index i = bank.first[kReads]; i != kNone && requests_[i].at <= at; i = requests_[i].next) {
    if (requests_[i].at >= refreshed) tail.extend(tail_timing_, requests_[i].row, requests_[i].at);
  }
  return tail;
}

CommandScheduler::RowState CommandScheduler::row_state_before(const Burst& burst, Cycle at, Cycle refreshed) const {
  BankTail tail = find_tail(burst.bank, at, refreshed);
  return row_state(tail, burst.row, at);
}

CommandScheduler::Cycle CommandScheduler::wait_for_room(const RequestQueue& queue, Cycle at) {
  if (at > now_) step(at, nullptr);
  if (!is_full(queue, at)) return at;
  step(kNever, &queue);
  return std::max(at, now_);
}

CommandScheduler::Cycle CommandScheduler::write(const Burst& burst, Cycle at, Cycle expected) {
  note_order(at);
  const RequestQueue& writes = queues_[kWrites];
  Cycle accepted = at;
  if (is_full(writes, at)) accepted = ordered_ >= writes.room() ? wait_for_room(writes, at) : std::max(at, expected);
  const Index index = add(burst, std::max(accepted, now_), 0, kWrites);
  Index& first = written_[burst.number % written_.size()];
  requests_[index].next_written = first;
  first = index;
  return accepted;
}

void CommandScheduler::admit(RequestQueue& queue) {
  while (queue.next() <= now_) {
    const Index index = queue.enter();
    Request& request = requests_[index];
    request.order = order_++;
    const Kind kind = request.kind;
    const Bank& bank = banks_[request.bank];
    if (bank.opened[kind ^ 1] != 0) {
      // Which of them is older is seen when the choice is made again.
      make_stale(request.bank, kind);
      if (kind != mode_) continue;
    }
    if (kind != mode_ && bank.stale[kind]) continue;
    const bool hit = bank.open && bank.row == request.row;
    const Command command = bank.choices[kind].command;
    if (command == Command::none) {
      choose(request.bank, kind, {hit ? Command::column : bank.open ? Command::precharge : Command::activate, index});
    } else if (command == Command::precharge && hit && !in_order_) {
      choose(request.bank, kind, {Command::column, index});
    }
  }
}

void CommandScheduler::turn() {
  mode_ ^= 1;
  columns_.known = rows_.known = false;
  for (const std::uint32_t index : stale_[mode_]) {
    banks_[index].stale[mode_] = false;
    choose(index, mode_, next_command(banks_[index], mode_));
  }
  stale_[mode_].clear();
}

void CommandScheduler::make_stale(std::uint32_t index, Kind mode) {
  if (banks_[index].stale[mode]) return;
  banks_[index].stale[mode] = true;
  stale_[mode].push_back(index);
}

CommandScheduler::Next CommandScheduler::next_of_both(const Bank& bank, Kind mode) const {
  Next next{Command::none, kNone};
  Index served = bank.first[mode];
  Index other = bank.first[mode ^ 1];  // of these only those that have a row opened for them
  for (;;) {
    while (other != kNone && !requests_[other].opened) other = requests_[other].next;
    if (served != kNone && !has_entered(requests_[served])) served = kNone;
    if (served == kNone && other == kNone) return next;
    const bool is_other = served == kNone || (other != kNone && is_before(requests_[other], requests_[served]));
    const Index index = is_other ? other : served;
    (is_other ? other : served) = requests_[index].next;
    if (!bank.open) return {Command::activate, index};
    if (requests_[index].row == bank.row) return {Command::column, index};
    if (next.served == kNone) next = {Command::precharge, index};
    if (in_order_) return next;
  }
}

void CommandScheduler::choose(std::uint32_t index, Kind mode, Next next) {
  Choice& choice = banks_[index].choices[mode];
  const auto is_column = [](Command command) { return command == Command::column; };
  const Command before = choice.command;
  const bool counts = mode == mode_;
  if (before != Command::none) {
    Bus& old = bus(before);
    if (counts && old.bank == index) old.known = false;
    if (next.command == Command::none || is_column(before) != is_column(next.command)) old.banks[mode].erase(index);
  }
  if (counts && in_order_) columns_.known = rows_.known = false;
  if (next.command == Command::none) {
    choice.command = Command::none;
    return;
  }
  serve(choice, next);
  if (is_column(next.command)) {
    columns_.banks[mode].insert(index);
    if (counts) offer<false>(index);
  } else {
    rows_.banks[mode].insert(index);
    if (counts) offer<true>(index);
  }
}

template <bool kRow>
CommandScheduler::Cycle CommandScheduler::ready(const Bank& bank, const Choice& choice) {
  if constexpr (kRow) {
    if (choice.command == Command::precharge) return bank.precharge;
    return latest_of(bank.activate, bank.group->activate, bank.pseudo->activate);
  } else {
    const Kind kind = choice.kind;
    return latest_of(bank.column[kind], bank.group->column[kind], bank.pseudo->column[kind]);
  }
}

bool CommandScheduler::is_oldest(std::uint32_t index) const {
  const std::uint64_t order = banks_[index].choices[mode_].order;
  bool oldest = true;
  const auto compare = [&](std::uint32_t other) {
    if (other >> pseudo_shift_ == index >> pseudo_shift_ && banks_[other].choices[mode_].order < order) oldest = false;
  };
  columns_.banks[mode_].for_each(compare);
  rows_.banks[mode_].for_each(compare);
  return oldest;
}

template <bool kRow>
void CommandScheduler::offer(std::uint32_t index) {
  Bus& bus = kRow ? rows_ : columns_;
  if (!bus.known) return;
  const Bank& bank = banks_[index];
  const Choice& choice = bank.choices[mode_];
  const Cycle earliest = std::max(now_, bus.free);
  const Cycle at = std::max(earliest, ready<kRow>(bank, choice));
  if (bus.at != kNever) at_least(bus.at, earliest);
  if (at > bus.at || (at == bus.at && choice.order > bus.order)) return;
  bus.at = at;
  bus.order = choice.order;
  bus.bank = index;
}

template <bool kRow>
void CommandScheduler::find() {
  if (in_order_) [[unlikely]]
    return find_in_order<kRow>();
  Bus& bus = kRow ? rows_ : columns_;
  const Cycle earliest = std::max(now_, bus.free);
  Cycle first = kNever;
  std::uint64_t order = 0;
  std::uint32_t chosen = 0;
  bus.banks[mode_].for_each([&, mode = mode_](std::uint32_t index) {
    const Bank& bank = banks_[index];
    const Choice& choice = bank.choices[mode];
    const Cycle soonest = ready<kRow>(bank, choice);
    const Cycle at = soonest < earliest ? earliest : soonest;
    if (at > first || (at == first && choice.order > order)) return;
    first = at;
    order = choice.order;
    chosen = index;
  });
  bus.at = first;
  bus.order = order;
  bus.bank = chosen;
  bus.known = true;
}

template <bool kRow>
void CommandScheduler::find_in_order() {
  Bus& bus = kRow ? rows_ : columns_;
  bus.at = kNever;
  bus.known = true;
  bus.banks[mode_].for_each([&](std::uint32_t index) {
    if (is_oldest(index)) offer<kRow>(index);
  });
}

void CommandScheduler::note_error(const Request& request) {
  const auto error = static_cast<std::int64_t>(now_ - request.column);
  owed_ += error;
  error_sum_ += error - errors_[next_error_];
  errors_[next_error_] = error;
  next_error_ = next_error_ + 1 == errors_.size() ? 0 : next_error_ + 1;
}

void CommandScheduler::forget_errors() {
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
  const Index served = bank.choices[mode_].served;
  const Request& request = requests_[served];
  // What earlier commands have put off is put off further now, or was over.
  const AfterColumn& after = after_column_[request.kind];
  pseudo.column = {now + after.pseudo[kReads], now + after.pseudo[kWrites]};
  group.column = {now + after.group[kReads], now + after.group[kWrites]};
  at_least(bank.precharge, now + after.precharge);
  columns_.free = now + 1;
  if (request.kind == kWrites) {
    pseudo.after_writes = now + p.tCWL.n + p.burst.n + std::min(p.tWTRS.n, p.tWTR.n);
    group.after_writes = now + p.tCWL.n + p.burst.n + p.tWTR.n;
    statistics_.write_drains += !pseudo.writing;
    pseudo.writing = true;
    statistics_.bus_busy += burst_time_;
  } else {
    pseudo.writing = false;
    note_error(request);
  }
  const bool counts_for_both = request.opened || closes_;
  if (request.opened) {
    --opened_;
    --bank.opened[request.kind];
  } else {
    statistics_.row_hits += request.kind;
    queues_[request.kind].leave();
  }
  columns_.known = false;
  if (in_order_) at_least(rows_.free, now_ + 1);  // the next request begins behind it
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
  if (request.kind == kWrites && !request.opened) ++(bank.conflict ? statistics_.row_conflicts : statistics_.row_empty);
  bank.conflict = false;
  if (!request.opened && opened_ < kMostOpened) {  // a refresh may have closed it again
    request.opened = true;
    ++opened_;
    ++bank.opened[request.kind];
    queues_[request.kind].leave();
  }
  if (request.opened || bank.choices[other].command != Command::none) make_stale(index, other);
  choose(index, mode_, {Command::column, choice.served});
}

void CommandScheduler::refresh(Cycle until) {
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  const Cycle interval = parameters_.tREFI.n;
  // Of those that pass while there is nothing to do the last is enough.
  const std::uint64_t passed = waiting_ == 0 && until > refresh_ ? (until - refresh_ - 1) / interval : 0;
  refresh_ += passed * interval;
  if (passed != 0) forget_errors();
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

void CommandScheduler::step(Cycle until, const RequestQueue* leaving) {
  RequestQueue& reads = queues_[kReads];
  RequestQueue& writes = queues_[kWrites];
  const std::uint64_t left = leaving != nullptr ? leaving->left() : 0;
  for (;;) {
    if (std::min(reads.next(), writes.next()) <= now_) {
      admit(reads);
      admit(writes);
    }
    if (turns()) turn();
    if (leaving != nullptr && leaving->left() != left) return;
    if (!columns_.known) find<false>();
    if (!rows_.known) find<true>();
    const Cycle next = std::min(std::min(columns_.at, rows_.at), std::min(reads.next(), writes.next()));
    if (waiting_ == 0 || std::min(next, refresh_) >= until) break;
    at_least(now_, std::min(next, refresh_));
    if (now_ >= refresh_) [[unlikely]] {
      refresh(now_ + 1);
      continue;
    }
    if (columns_.at <= now_) issue_column();
    if (rows_.known && rows_.at <= now_) issue_row();
  }
  if (until == kNever) return;
  at_least(now_, until);
  if (now_ >= refresh_) refresh(now_ + 1);
}

void CommandScheduler::reset() {
  std::fill(banks_.begin(), banks_.end(), Bank{});
  std::fill(tails_.begin(), tails_.end(), BankTail{});
  std::fill(groups_.begin(), groups_.end(), Group{});
  std::fill(pseudos_.begin(), pseudos_.end(), Pseudo{});
  connect_banks();
  requests_.clear();
  free_ = kNone;
  for (RequestQueue& queue : queues_) queue.reset();
  for (auto& stale : stale_) stale.clear();
  latest_ = ordered_ = 0;
  for (Bus* bus : {&columns_, &rows_}) {
    for (BankSet& banks : bus->banks) banks.clear();
    bus->free = 0;
    bus->known = false;
  }
  mode_ = kReads;
  opened_ = waiting_ = 0;
  now_ = told_ = order_ = 0;
  refresh_ = first_refresh_;
  forget_errors();
  written_.fill(kNone);
}

}  // namespace lacuna
