#include "models/dram/command_scheduler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/dram/detail/inline_scheduling.h"

namespace lacuna {
namespace {

unsigned bits_of(unsigned count) { return static_cast<unsigned>(std::countr_zero(count)); }
std::uint64_t earlier_of(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
std::uint64_t later_of(std::uint64_t a, std::uint64_t b) { return a < b ? b : a; }

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
      has_one_pseudo_(parameters.pseudo_channels == 1),
      reads_(parameters.read_queue),
      reads_shift_(std::has_single_bit(reads_) ? std::countr_zero(reads_) : -1),
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
      alternatives_(banks_.size()),
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
  const Cycle write_to_read = write_end + std::min(p.tWTRS.n, p.tWTR.n);
  const Cycle turn = std::max(read_end + p.tRTRS.n, p.tCWL.n) - p.tCWL.n;
  AfterColumn read{{other_group, std::max(other_group, turn)}, {same_group, same_group}, p.tRTP.n, {}, {}};
  AfterColumn write{{std::max(other_group, write_to_read), other_group},
                    {std::max(same_group, write_end + p.tWTR.n), same_group},
                    write_end + p.tWR.n,
                    write_to_read,
                    write_end + p.tWTR.n};
  return {read, write};
}

void CommandScheduler::connect_banks() {
  for (std::size_t index = 0; index < banks_.size(); ++index) {
    banks_[index].group = &groups_[index >> bank_bits_];
    banks_[index].pseudo = &pseudos_[index >> pseudo_shift_];
  }
}

void CommandScheduler::find_tail(BankTail& tail, std::uint32_t index, Cycle at, Cycle refreshed) const {
  // Starts from the state after the decided commands and extends it by each waiting read.
  const Bank& bank = banks_[index];
  tail.known = true;
  tail.count = 0;
  tail.at = tail.precharge = 0;
  tail.activate = bank.activate + ahead_;
  if (bank.open && refresh_ > refreshed) {
    tail.count = 1;
    tail.precharge = bank.precharge;
    tail.openings[0] = {.row = bank.row, .column = bank.column[kReads], .closed = kNever};
  }
  for (Index i = bank.first[kReads]; i != kNone && requests_[i].at <= at; i = requests_[i].next) {
    if (requests_[i].at >= refreshed) tail.extend(tail_timing_, requests_[i].row, requests_[i].at);
  }
}

CommandScheduler::RowState CommandScheduler::row_state_before(const Burst& burst, Cycle at, Cycle refreshed) const {
  BankTail tail;
  find_tail(tail, burst.bank, at, refreshed);
  return row_state(tail, burst.row, at);
}

// Admits requests of both kinds in order of arrival: both may have waited for room.
void CommandScheduler::admit() {
  RequestQueue& reads = queues_[kReads];
  RequestQueue& writes = queues_[kWrites];
  for (;;) {
    if (writes.next() > now_) {
      if (reads.next() > now_) return;
      enter(reads.enter());
    } else if (reads.next() > now_ || is_before(requests_[writes.first()], requests_[reads.first()])) {
      enter(writes.enter());
    } else {
      enter(reads.enter());
    }
  }
}

void CommandScheduler::enter(Index index) {
  Request& request = requests_[index];
  request.order = order_++;
  const Kind kind = request.kind;
  const Bank& bank = banks_[request.bank];
  if (kind == kWrites && request.requester != kNoRequester) decisions_.push_back({request.requester, Command::none, now_});
  if (bank.opened[kind ^ 1] != 0) [[unlikely]] {
    if (kind == mode_) {
      choose(request.bank, kind, next_of_both(bank, kind));
    } else {
      make_stale(request.bank, kind);
    }
    return;
  }
  if (kind != mode_ && bank.stale[kind]) return;
  const bool hit = bank.open && bank.row == request.row;
  const Command command = bank.choices[kind].command;
  if (command == Command::none) {
    choose(request.bank, kind, {hit ? Command::column : bank.open ? Command::precharge : Command::activate, index});
  } else if (command == Command::precharge && hit && !in_order_) {
    choose(request.bank, kind, {Command::column, index});
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
  Index other = bank.first[mode ^ 1];  // requests of the other kind are considered only if their row was opened for them
  for (;;) {
    while (other != kNone && !requests_[other].opened) other = requests_[other].next;
    if (served != kNone && !has_entered(requests_[served])) served = kNone;
    if (served == kNone && other == kNone) return next;
    const bool is_other = served == kNone || (other != kNone && requests_[other].order < requests_[served].order);
    const Index index = is_other ? other : served;
    (is_other ? other : served) = requests_[index].next;
    if (!bank.open) return {Command::activate, index};
    if (requests_[index].row == bank.row) {
      if (next.command != Command::column) {
        next = {Command::column, index};
      } else if (requests_[index].kind != requests_[next.served].kind) {
        next.alternative = index;
        return next;
      }
    } else if (next.served == kNone) {
      next = {Command::precharge, index};
    }
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
    return later_of(bank.activate, later_of(bank.group->activate, bank.pseudo->activate));
  } else {
    return column_ready(bank, choice.kind);
  }
}

inline CommandScheduler::Cycle CommandScheduler::column_ready(const Bank& bank, Kind kind) {
  return later_of(bank.column[kind], later_of(bank.group->column[kind], bank.pseudo->column[kind]));
}

template <bool kRow>
[[gnu::always_inline]] inline CommandScheduler::Candidate CommandScheduler::candidate(std::uint32_t index,
                                                                                      Cycle earliest) const {
  const Bank& bank = banks_[index];
  const Choice& choice = bank.choices[mode_];
  const Cycle at = later_of(earliest, ready<kRow>(bank, choice));
  if (!kRow && choice.either) [[unlikely]] {
    const Index alternative = alternatives_[index][mode_];
    const Cycle instead = later_of(earliest, column_ready(bank, requests_[alternative].kind));
    if (instead < at) return {instead, requests_[alternative].order, alternative};
  }
  return {at, choice.order, choice.served};
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
  const Cycle earliest = later_of(now_, bus.free);
  const Candidate offered = candidate<kRow>(index, earliest);
  if (bus.at != kNever) bus.at = later_of(bus.at, earliest);
  if (offered.at > bus.at || (offered.at == bus.at && offered.order > bus.order)) return;
  bus.at = offered.at;
  bus.order = offered.order;
  bus.served = offered.served;
  bus.bank = index;
}

// Usually some banks are ready as soon as the buses are free: the oldest request to one of these banks goes first.
template <CommandScheduler::Kind kMode>
bool CommandScheduler::find_unhindered_column() {
  if (opened_[kMode ^ 1] != 0) return false;  // requests of the other kind have different timing bounds
  Cycle least = pseudos_.front().column[kMode];
  if (!has_one_pseudo_) {
    for (const Pseudo& pseudo : pseudos_) least = earlier_of(least, pseudo.column[kMode]);
  }
  least = later_of(least, later_of(now_, columns_.free));
  std::uint64_t order = kNotEntered;
  std::uint32_t chosen = 0;
  columns_.banks[kMode].for_each([&, banks = banks_.data()](std::uint32_t index) {
    const Bank& bank = banks[index];
    if (bank.choices[kMode].order > order || bank.column[kMode] > least || bank.group->column[kMode] > least) return;
    if (bank.pseudo->column[kMode] > least) return;
    order = bank.choices[kMode].order;
    chosen = index;
  });
  if (order == kNotEntered) return false;
  columns_.at = least;
  columns_.order = order;
  columns_.bank = chosen;
  columns_.served = banks_[chosen].choices[kMode].served;
  columns_.known = true;
  return true;
}

template <bool kRow>
void CommandScheduler::find() {
  if (in_order_) [[unlikely]]
    return find_in_order<kRow>();
  if constexpr (!kRow) {
    if (mode_ == kReads ? find_unhindered_column<kReads>() : find_unhindered_column<kWrites>()) return;
  }
  Bus& bus = kRow ? rows_ : columns_;
  const Cycle earliest = later_of(now_, bus.free);
  // Earliest cycle of any command: once a candidate can be issued at `least`, only older requests are compared.
  Cycle least = earliest;
  if (!kRow && has_one_pseudo_) {
    const Pseudo& pseudo = pseudos_.front();
    least = later_of(least, earlier_of(pseudo.column[kReads], pseudo.column[kWrites]));
  }
  Candidate first{kNever, kNotEntered, kNone};
  std::uint32_t chosen = 0;
  bus.banks[mode_].for_each([&, mode = mode_](std::uint32_t index) {
    if (first.at == least && banks_[index].choices[mode].order > first.order) return;
    const Candidate offered = candidate<kRow>(index, earliest);
    if (offered.at > first.at || (offered.at == first.at && offered.order > first.order)) return;
    first = offered;
    chosen = index;
  });
  bus.at = first.at;
  bus.order = first.order;
  bus.served = first.served;
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

void CommandScheduler::step(Cycle until) {
  RequestQueue& reads = queues_[kReads];
  RequestQueue& writes = queues_[kWrites];
  for (;;) {
    Cycle next = earlier_of(reads.next(), writes.next());
    if (next <= now_) {
      admit();
      next = earlier_of(reads.next(), writes.next());
    }
    // The scheduler switches between reads and writes only at the beginning of a cycle. If commands have already been issued in
    // this cycle, the scheduler switches in the next one.
    Cycle turns_at = kNever;
    if (turns()) {
      if (now_ >= issued_until_) {
        turn();
      } else {
        turns_at = issued_until_;
      }
    }
    if (!columns_.known) find<false>();
    if (!rows_.known) find<true>();
    next = earlier_of(earlier_of(next, refresh_), earlier_of(columns_.at, rows_.at));
    if (turns_at <= next) next = turns_at;
    if (next >= until || waiting_ == 0) break;
    now_ = later_of(now_, next);
    if (now_ >= refresh_) [[unlikely]] {
      refresh(now_ + 1);
      continue;
    }
    // Requests that arrive in this cycle must enter before its commands are decided.
    if (now_ == turns_at || reads.next() <= now_ || writes.next() <= now_) continue;
    if (columns_.at <= now_) issue_column();
    if (!rows_.known) find<true>();
    if (rows_.at <= now_) issue_row();
  }
  if (until == kNever) return;
  now_ = later_of(now_, until);
  if (now_ >= refresh_) refresh(now_ + 1);
  // Admits requests in cycle `until`, so that an entry freed in the previous cycle is reported.
  admit();
}

CommandScheduler::Cycle CommandScheduler::next_decision() {
  if (waiting_ == 0) return kNever;
  // The first command after the bus turnaround is not known yet.
  if (turns()) return earlier_of(later_of(now_, issued_until_), refresh_);
  Cycle next = earlier_of(queues_[kReads].next(), queues_[kWrites].next());
  if (next > now_) {
    if (!columns_.known) find<false>();
    if (!rows_.known) find<true>();
    next = earlier_of(next, earlier_of(columns_.at, rows_.at));
  }
  return later_of(now_, earlier_of(next, refresh_));
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
  decisions_.clear();
  for (Bus* bus : {&columns_, &rows_}) {
    for (BankSet& banks : bus->banks) banks.clear();
    bus->free = 0;
    bus->known = false;
  }
  mode_ = kReads;
  opened_ = {};
  waiting_ = waiting_reads_ = 0;
  now_ = issued_until_ = sequence_ = order_ = 0;
  refresh_ = first_refresh_;
  clear_errors();
  written_.fill(kNone);
}

}  // namespace lacuna
