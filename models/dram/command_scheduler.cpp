#include "models/dram/command_scheduler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lacuna {
namespace {

// Ramulator2's buffer of requests whose rows are being opened.
constexpr std::size_t kMostOpened = 32;
// Requests that have entered are dropped from the list of those that come when there are so many.
constexpr std::size_t kCompactFrom = 64;

void at_least(std::uint64_t& cycle, std::uint64_t bound) { cycle = std::max(cycle, bound); }

}  // namespace

CommandScheduler::CommandScheduler(const DramParameters& parameters, const RefreshTimes& refresh, DramStatistics& statistics)
    : parameters_(parameters),
      group_bits_(static_cast<unsigned>(std::countr_zero(parameters.bank_groups))),
      bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks_per_group))),
      ahead_(parameters.activate_cycles.n - 1),
      column_gap_(std::max(parameters.burst.n, parameters.tCCDS.n)),
      group_gap_(std::max(parameters.burst.n, parameters.tCCDL.n)),
      burst_time_(parameters.clock.period() * parameters.burst.n),
      first_refresh_(refresh.first()),
      in_order_(parameters.scheduler == DramScheduler::fcfs),
      closes_(parameters.page_policy == DramPagePolicy::closed),
      high_(static_cast<std::size_t>(parameters.write_high * parameters.write_queue)),
      low_(static_cast<std::size_t>(std::max(1.0, std::ceil(parameters.write_low * parameters.write_queue)))),
      statistics_(statistics),
      refresh_(first_refresh_),
      reads_{.room = parameters.read_queue},
      writes_{.room = parameters.write_queue},
      banks_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups * parameters.banks_per_group),
      groups_(std::size_t{parameters.pseudo_channels} * parameters.bank_groups),
      pseudos_(parameters.pseudo_channels),
      errors_(parameters.read_queue) {
  columns_.banks.reserve(banks_.size());
  rows_.banks.reserve(banks_.size());
}

void CommandScheduler::add(const Burst& burst, Cycle at, Cycle column, bool write) {
  if (free_.empty()) {
    free_.push_back(static_cast<Index>(requests_.size()));
    requests_.emplace_back();
  }
  const Index index = free_.back();
  free_.pop_back();
  requests_[index] = {.row = burst.row,
                      .number = burst.number,
                      .at = at,
                      .column = column,
                      .order = 0,
                      .bank = burst.bank,
                      .next = kNone,
                      .write = write,
                      .entered = false,
                      .opened = false};
  ++waiting_;
  link(index);
  insert(queue(write), index);
}

void CommandScheduler::link(Index index) {
  Request& request = requests_[index];
  Bank& bank = banks_[request.bank];
  if (bank.first == kNone) {
    bank.first = bank.last = index;
  } else if (Request& last = requests_[bank.last]; last.at <= request.at) {
    last.next = index;
    bank.last = index;
  } else {
    Index* place = &bank.first;
    while (requests_[*place].at <= request.at) place = &requests_[*place].next;
    request.next = *place;
    *place = index;
    bank.tail.known = false;
    return;
  }
  if (!request.write && bank.tail.known) extend(bank.tail, request.row, request.at);
}

void CommandScheduler::insert(Queue& queue, Index index) {
  std::vector<Index>& list = queue.coming;
  if (queue.head == list.size() || (queue.head >= kCompactFrom && queue.head * 2 >= list.size())) {
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(queue.head));
    queue.head = 0;
  }
  const Cycle at = requests_[index].at;
  std::size_t place = list.size();
  list.push_back(index);
  for (; place > queue.head && requests_[list[place - 1]].at > at; --place) list[place] = list[place - 1];
  list[place] = index;
  if (place == queue.head) expect(queue);
}

void CommandScheduler::expect(Queue& queue) {
  const bool enters = queue.held < queue.room && queue.head < queue.coming.size();
  queue.next = enters ? requests_[queue.coming[queue.head]].at : kNever;
}

void CommandScheduler::extend(Tail& tail, std::uint64_t row, Cycle at) const {
  const DramParameters& p = parameters_;
  tail.at = at;
  Tail::Opening* found = tail.find(row, at);
  if (found == nullptr) {
    Cycle begin = std::max(tail.activate, at + ahead_);
    if (tail.count > 0) {
      Cycle& closed = tail.openings[tail.count - 1].closed;
      closed = std::max(tail.precharge, at);
      begin = std::max(tail.activate, closed + p.tRP.n);
      if (tail.count == Tail::kOpenings) std::move(tail.openings.begin() + 1, tail.openings.end(), tail.openings.begin());
    }
    tail.count = std::min(tail.count + 1, Tail::kOpenings);
    found = &tail.openings[tail.count - 1];
    *found = {.row = row, .column = begin + p.tRCDRD.n, .closed = kNever};
    tail.activate = begin + p.tRC.n;
    tail.precharge = begin + p.tRAS.n;
  }
  const Cycle column = std::max(found->column, at);
  found->column = column + group_gap_;
  const Cycle free = column + p.tRTP.n;
  if (found->closed == kNever) {
    at_least(tail.precharge, free);
  } else if (free > found->closed) {
    // What lies behind it moves back.
    const Cycle later = free - found->closed;
    for (Tail::Opening* next = found; next->closed != kNever; ++next) {
      next->closed += later;
      (next + 1)->column += later;
    }
    tail.activate += later;
    tail.precharge += later;
  }
  if (closes_) {
    tail.count = 0;
    at_least(tail.activate, tail.precharge + p.tRP.n);
  }
}

CommandScheduler::Tail CommandScheduler::find_tail(const Bank& bank, Cycle at, Cycle refreshed) const {
  // First what the decided commands leave, then what each of the reads makes of it.
  Tail tail;
  tail.known = true;
  tail.activate = bank.activate + ahead_;
  if (bank.open && refresh_ > refreshed) {
    tail.count = 1;
    tail.precharge = bank.precharge;
    tail.openings[0] = {.row = bank.row, .column = bank.read, .closed = kNever};
  }
  for (Index i = bank.first; i != kNone && requests_[i].at <= at; i = requests_[i].next) {
    const Request& request = requests_[i];
    if (!request.write && request.at >= refreshed) extend(tail, request.row, request.at);
  }
  return tail;
}

CommandScheduler::RowState CommandScheduler::row_state(const Burst& burst, Cycle at, Cycle refreshed) {
  Bank& bank = banks_[burst.bank];
  // Mostly nothing was decided since the last read came, which came earlier.
  const bool is_last = bank.first == kNone || requests_[bank.last].at <= at;
  if (is_last && (!bank.tail.known || bank.tail.at < refreshed)) bank.tail = find_tail(bank, at, refreshed);
  Tail other;
  if (!is_last) other = find_tail(bank, at, refreshed);
  Tail& tail = is_last ? bank.tail : other;
  if (const Tail::Opening* opening = tail.find(burst.row, at)) return {Command::column, opening->column, 0};
  if (tail.count == 0) return {Command::activate, tail.activate, 0};
  return {Command::precharge, tail.precharge, tail.activate};
}

void CommandScheduler::read(const Burst& burst, Cycle at, Cycle enters, Cycle column) {
  note_order(at);
  // One that is told too late is served late, and would not have been; one that waited for room was not.
  const Cycle late = now_ - std::min(now_, enters);
  add(burst, enters + late, column + late, false);
}

bool CommandScheduler::is_full(const Queue& queue, Cycle at) const {
  if (queue.held + (queue.coming.size() - queue.head) < queue.room) return false;
  if (ordered_ >= queue.room) return true;
  const auto first = queue.coming.begin() + static_cast<std::ptrdiff_t>(queue.head);
  const auto behind = std::upper_bound(first, queue.coming.end(), at,
                                       [this](Cycle cycle, Index request) { return cycle < requests_[request].at; });
  return queue.held + static_cast<std::size_t>(behind - first) >= queue.room;
}

CommandScheduler::Cycle CommandScheduler::wait_for_room(const Queue& queue, Cycle at) {
  if (at > now_) step(at, nullptr);
  if (!is_full(queue, at)) return at;
  step(kNever, &queue);
  return std::max(at, now_);
}

CommandScheduler::Cycle CommandScheduler::room_for_read(Cycle at) {
  return ordered_ >= reads_.room && is_full(reads_, at) ? wait_for_room(reads_, at) : at;
}

CommandScheduler::Cycle CommandScheduler::write(const Burst& burst, Cycle at, Cycle expected) {
  note_order(at);
  Cycle accepted = at;
  if (is_full(writes_, at)) accepted = ordered_ >= writes_.room ? wait_for_room(writes_, at) : std::max(at, expected);
  ++written_[burst.number % written_.size()];
  add(burst, std::max(accepted, now_), 0, true);
  return accepted;
}

bool CommandScheduler::find_pending(std::uint64_t burst) const {
  for (const Bank& bank : banks_) {
    for (Index i = bank.first; i != kNone; i = requests_[i].next) {
      if (requests_[i].number == burst && requests_[i].write) return true;
    }
  }
  return false;
}

void CommandScheduler::admit(Queue& queue) {
  while (queue.next <= now_) {
    const Index index = queue.coming[queue.head++];
    ++queue.held;
    expect(queue);
    Request& request = requests_[index];
    request.entered = true;
    request.order = order_++;
    if (!is_served(request)) continue;
    const Bank& bank = banks_[request.bank];
    if (bank.command == Command::none) {
      const bool hit = bank.open && bank.row == request.row;
      set_command(request.bank, hit ? Command::column : bank.open ? Command::precharge : Command::activate, index);
    } else if (bank.command == Command::precharge && bank.row == request.row && !in_order_) {
      set_command(request.bank, Command::column, index);
    }
  }
}

void CommandScheduler::choose_mode() {
  if (write_mode_) {
    if (reads_.held == 0 || writes_.held >= low_) return;
  } else if (writes_.held == 0 || (reads_.held != 0 && writes_.held <= high_)) {
    return;
  }
  write_mode_ = !write_mode_;
  choose_all();
}

void CommandScheduler::choose_all() {
  columns_.banks.clear();
  rows_.banks.clear();
  columns_.known = rows_.known = false;
  for (std::uint32_t index = 0; index < banks_.size(); ++index) {
    Bank& bank = banks_[index];
    bank.command = Command::none;
    if (bank.first == kNone) continue;
    const auto [command, served] = next_command(bank);
    if (command == Command::none) continue;
    serve(bank, command, served);
    std::vector<std::uint16_t>& banks = bus(command).banks;
    bank.place = static_cast<std::uint16_t>(banks.size());
    banks.push_back(static_cast<std::uint16_t>(index));
  }
}

CommandScheduler::Next CommandScheduler::next_command(const Bank& bank) const {
  Next next{Command::none, kNone};
  for (Index i = bank.first; i != kNone; i = requests_[i].next) {
    const Request& request = requests_[i];
    if (!is_served(request)) continue;
    if (bank.open && request.row == bank.row) {
      if (next.served != kNone && in_order_) break;
      return {Command::column, i};
    }
    if (next.served != kNone) continue;
    next = {bank.open ? Command::precharge : Command::activate, i};
    if (!bank.open) break;
  }
  return next;
}

void CommandScheduler::set_command(std::uint32_t index, Command command, Index served) {
  Bank& bank = banks_[index];
  const bool was_column = bank.command == Command::column;
  if (bank.command != Command::none) {
    Bus& old = bus(bank.command);
    if (old.bank == index) old.known = false;
    if (was_column != (command == Command::column) || command == Command::none) {
      const std::uint16_t moved = old.banks.back();
      old.banks[bank.place] = moved;
      banks_[moved].place = bank.place;
      old.banks.pop_back();
      bank.command = Command::none;
    }
  }
  if (in_order_) columns_.known = rows_.known = false;
  if (command == Command::none) return;
  const bool is_new = bank.command == Command::none;
  serve(bank, command, served);
  Bus& next = bus(command);
  if (is_new) {
    bank.place = static_cast<std::uint16_t>(next.banks.size());
    next.banks.push_back(static_cast<std::uint16_t>(index));
  }
  if (command == Command::column) {
    offer<false>(index);
  } else {
    offer<true>(index);
  }
}

template <bool kRow>
CommandScheduler::Cycle CommandScheduler::ready(const Bank& bank, std::uint32_t index) const {
  const Group& group = groups_[index >> bank_bits_];
  const Pseudo& pseudo = pseudos_[index >> bank_bits_ >> group_bits_];
  if constexpr (kRow) {
    if (bank.command == Command::precharge) return bank.precharge;
    return std::max(bank.activate, std::max(group.activate, pseudo.activate));
  } else {
    const Cycle any = std::max(group.column, pseudo.column);
    return bank.writes ? std::max(any, std::max(bank.write, pseudo.write))
                       : std::max(std::max(any, bank.read), std::max(group.read, pseudo.read));
  }
}

bool CommandScheduler::is_oldest(std::uint32_t index) const {
  const unsigned shift = bank_bits_ + group_bits_;
  const auto is_older = [this, index, shift](std::uint32_t other) {
    return other >> shift == index >> shift && banks_[other].order < banks_[index].order;
  };
  return std::none_of(columns_.banks.begin(), columns_.banks.end(), is_older) &&
         std::none_of(rows_.banks.begin(), rows_.banks.end(), is_older);
}

template <bool kRow>
void CommandScheduler::offer(std::uint32_t index) {
  Bus& bus = kRow ? rows_ : columns_;
  if (!bus.known) return;
  const Bank& bank = banks_[index];
  const Cycle earliest = std::max(now_, bus.free);
  const Cycle at = std::max(earliest, ready<kRow>(bank, index));
  if (bus.at != kNever) at_least(bus.at, earliest);
  if (at > bus.at || (at == bus.at && bank.order > bus.order)) return;
  bus.at = at;
  bus.order = bank.order;
  bus.bank = index;
}

template <bool kRow>
void CommandScheduler::find() {
  Bus& bus = kRow ? rows_ : columns_;
  const Cycle earliest = std::max(now_, bus.free);
  Cycle first = kNever;
  std::uint64_t order = 0;
  std::uint32_t chosen = 0;
  for (const std::uint32_t index : bus.banks) {
    const Bank& bank = banks_[index];
    const Cycle at = std::max(earliest, ready<kRow>(bank, index));
    if (at > first || (at == first && bank.order > order) || (in_order_ && !is_oldest(index))) continue;
    first = at;
    order = bank.order;
    chosen = index;
  }
  bus.at = first;
  bus.order = order;
  bus.bank = chosen;
  bus.known = true;
}

void CommandScheduler::remove(Bank& bank, Index request) {
  Index* link = &bank.first;
  Index before = kNone;
  for (; *link != request; link = &requests_[before].next) before = *link;
  *link = requests_[request].next;
  if (bank.last == request) bank.last = before;
  bank.tail.known = false;
  free_.push_back(request);
  --waiting_;
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

void CommandScheduler::leave(Request& request) {
  Queue& from = queue(request.write);
  ++from.left;
  if (from.held-- == from.room) expect(from);
}

void CommandScheduler::issue_column() {
  const DramParameters& p = parameters_;
  const std::uint32_t index = columns_.bank;
  Bank& bank = banks_[index];
  Group& group = groups_[index >> bank_bits_];
  Pseudo& pseudo = pseudos_[index >> bank_bits_ >> group_bits_];
  const Index served = bank.served;
  Request& request = requests_[served];
  pseudo.column = now_ + column_gap_;
  group.column = now_ + group_gap_;
  columns_.free = now_ + 1;
  if (request.write) {
    const Cycle end = now_ + p.tCWL.n + p.burst.n;
    at_least(bank.precharge, end + p.tWR.n);
    at_least(pseudo.read, end + std::min(p.tWTRS.n, p.tWTR.n));
    at_least(group.read, end + p.tWTR.n);
    statistics_.write_drains += !pseudo.writing;
    pseudo.writing = true;
    statistics_.bus_busy += burst_time_;
    --written_[request.number % written_.size()];
  } else {
    at_least(bank.precharge, now_ + p.tRTP.n);
    const Cycle free = now_ + p.tCL.n + p.burst.n + p.tRTRS.n;
    at_least(pseudo.write, free - std::min(free, p.tCWL.n));
    pseudo.writing = false;
    note_error(request);
  }
  if (request.opened) {
    --opened_;
  } else {
    statistics_.row_hits += request.write;
    leave(request);
  }
  columns_.known = false;
  if (in_order_) at_least(rows_.free, now_ + 1);  // the next request begins behind it
  remove(bank, served);
  if (closes_) {
    bank.open = false;
    at_least(bank.activate, bank.precharge + p.tRP.n - ahead_);
  }
  const Next next = bank.first != kNone ? next_command(bank) : Next{Command::none, kNone};
  set_command(index, next.command, next.served);
}

void CommandScheduler::issue_row() {
  const DramParameters& p = parameters_;
  const std::uint32_t index = rows_.bank;
  Bank& bank = banks_[index];
  rows_.known = false;
  bank.tail.known = false;
  if (bank.command == Command::precharge) {
    bank.open = false;
    bank.conflict = true;
    at_least(bank.activate, now_ + p.tRP.n - std::min(p.tRP.n, ahead_));
    rows_.free = now_ + 1;
    bank.command = Command::activate;
    return;
  }
  const Cycle at = now_ + ahead_;  // timing counts from the command's last cycle
  Group& group = groups_[index >> bank_bits_];
  Pseudo& pseudo = pseudos_[index >> bank_bits_ >> group_bits_];
  Request& request = requests_[bank.served];
  bank.open = true;
  bank.row = request.row;
  bank.activate = now_ + p.tRC.n;
  bank.precharge = at + p.tRAS.n;
  bank.read = at + p.tRCDRD.n;
  bank.write = at + p.tRCDWR.n;
  group.activate = now_ + p.tRRDL.n;
  pseudo.activates[pseudo.oldest_activate] = now_ + p.tFAW.n;
  pseudo.oldest_activate = (pseudo.oldest_activate + 1) % 4;
  pseudo.activate = std::max(now_ + p.tRRDS.n, pseudo.activates[pseudo.oldest_activate]);
  rows_.free = now_ + p.activate_cycles.n;
  if (request.write && !request.opened) ++(bank.conflict ? statistics_.row_conflicts : statistics_.row_empty);
  bank.conflict = false;
  if (!request.opened && opened_ < kMostOpened) {  // a refresh may have closed it again
    request.opened = true;
    ++opened_;
    leave(request);
  }
  set_command(index, Command::column, bank.served);
}

void CommandScheduler::refresh(Cycle until) {
  const Cycle duration = parameters_.tRP.n + parameters_.tRFC.n;
  const Cycle interval = parameters_.tREFI.n;
  // Of those that pass while there is nothing to do the last is enough.
  const std::uint64_t passed = waiting_ == 0 && until > refresh_ ? (until - refresh_ - 1) / interval : 0;
  refresh_ += passed * interval;
  if (passed != 0) forget_errors();
  statistics_.refreshes += (passed + 1) * pseudos_.size();
  const std::size_t count = banks_.size() / pseudos_.size();
  for (std::size_t p = 0; p < pseudos_.size(); ++p) {
    const auto first = banks_.begin() + static_cast<std::ptrdiff_t>(p * count);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    Cycle begin = refresh_;
    for (auto bank = first; bank != last; ++bank) {
      if (bank->open) at_least(begin, bank->precharge);
    }
    for (auto bank = first; bank != last; ++bank) {
      bank->open = bank->conflict = bank->tail.known = false;
      at_least(bank->activate, begin + duration - ahead_);
    }
  }
  refresh_ += interval;
  choose_all();
}

void CommandScheduler::step(Cycle until, const Queue* leaving) {
  const std::uint64_t left = leaving != nullptr ? leaving->left : 0;
  for (;;) {
    if (std::min(reads_.next, writes_.next) <= now_) {
      admit(reads_);
      admit(writes_);
    }
    choose_mode();
    if (leaving != nullptr && leaving->left != left) return;
    if (!columns_.known) find<false>();
    if (!rows_.known) find<true>();
    const Cycle next = std::min(std::min(columns_.at, rows_.at), std::min(reads_.next, writes_.next));
    if (std::min(next, waiting_ != 0 ? refresh_ : kNever) >= until) break;
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
  std::fill(groups_.begin(), groups_.end(), Group{});
  std::fill(pseudos_.begin(), pseudos_.end(), Pseudo{});
  requests_.clear();
  free_.clear();
  for (Queue* queue : {&reads_, &writes_}) *queue = {.room = queue->room};
  latest_ = ordered_ = 0;
  for (Bus* bus : {&columns_, &rows_}) *bus = {};
  write_mode_ = false;
  opened_ = waiting_ = 0;
  now_ = order_ = 0;
  refresh_ = first_refresh_;
  forget_errors();
  written_.fill(0);
}

}  // namespace lacuna
