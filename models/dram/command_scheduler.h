// What a DRAM controller's commands are, decided in the order of time once all requests up to a cycle are known. No SystemC.
//
// One queue of reads and one of writes for the channel, first ready, first come, first served in each. In every cycle the row
// bus and the column bus take a command each: that of the oldest request whose next command may be issued. A row is not closed
// while a request that is served now can use it. Requests whose row was opened for them leave their queue. With
// `scheduler = fcfs` only the oldest request of each pseudo channel has commands.
//
// Writes are served when there are more than `write_high` of the queue's entries, until fewer than `write_low` are left, and
// whenever no read waits (Ramulator2's generic controller: wr_high_watermark, wr_low_watermark).
//
// Refresh: all banks of a pseudo channel as soon as the rows that are open may be closed, for tRP + tRFC.
//
// In each cycle requests enter their queues, what is served is decided, and then each bus takes its command: an entry that is
// freed may be used in the next cycle, and what is served turns at the beginning of one.
//
// Nothing is done cycle by cycle: each bank has one next command, and time goes on to the earliest of them, to the next request
// or to the next refresh. A bank's next command is chosen when something happens in the bank. What it is while reads are served
// and what it is while writes are stand side by side, so that turning from one to the other chooses little. A bank whose open
// row was opened for a request of the kind that is not served may have two: whichever can be issued first is.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/dram/bank_set.h"
#include "models/dram/bank_tail.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/refresh_times.h"
#include "models/dram/request_queue.h"

namespace lacuna {

class CommandScheduler {
 public:
  using Cycle = std::uint64_t;
  static constexpr Cycle kNever = RequestQueue::kNever;

  struct Burst {
    std::uint64_t number;  ///< address in the channel divided by the bytes of a burst
    std::uint64_t row;
    std::uint32_t bank;  ///< of all pseudo channels: their numbers are the top bits, those of groups follow
  };
  enum class Command : std::uint8_t { none, column, precharge, activate };
  /// What a read finds in its bank, behind the reads that wait there.
  struct RowState {
    Command command;  ///< that it needs first
    Cycle ready;      ///< earliest cycle of that command; of an activate the last one counts
    Cycle cycle;      ///< earliest activate, when a precharge comes first
  };

  CommandScheduler(const DramParameters& parameters, const RefreshTimes& refresh, DramStatistics& statistics);

  /// For a read that arrives at `at`; no row stays open across `refreshed`.
  RowState row_state(const Burst& burst, Cycle at, Cycle refreshed) {
    BankTail& tail = tails_[burst.bank];
    // Mostly nothing was decided since the last read came, which came earlier.
    if (banks_[burst.bank].latest > at) [[unlikely]]
      return row_state_before(burst, at, refreshed);
    if (!tail.known || tail.at < refreshed) find_tail(tail, burst.bank, at, refreshed);
    return row_state(tail, burst.row, at);
  }
  /// Names a request in decisions().
  using Asker = std::uint32_t;
  static constexpr Asker kNoAsker = ~Asker{0};
  /// A read that arrives at `at`. `column`: its column command as forecast.
  void read(const Burst& burst, Cycle at, Cycle column) {
    // One that comes too late is served late, and would not have been.
    const Cycle late = now_ > at ? now_ - at : 0;
    add(burst, at + late, column + late, kReads, kNoAsker);
  }
  /// One whose column command is among the decisions.
  void read_later(const Burst& burst, Cycle at, Asker asker) { add(burst, std::max(at, now_), 0, kReads, asker); }
  void write(const Burst& burst, Cycle at, Asker asker = kNoAsker) {
    const Index index = add(burst, std::max(at, now_), 0, kWrites, asker);
    Index& first = written_[burst.number % written_.size()];
    requests_[index].next_written = first;
    first = index;
  }
  /// Whether the queue has an entry for the next write, whatever comes.
  bool has_room_for_writes(std::size_t count) const { return queues_[kWrites].has_room(count); }
  struct Decision {
    Asker asker;
    Command first;  ///< that a read needed
    Cycle at;       ///< of a read's column command; a write enters its queue
  };
  /// What has been decided for requests with an asker since the last forget_decisions(), in order of time.
  const std::vector<Decision>& decisions() const { return decisions_; }
  void forget_decisions() { decisions_.clear(); }
  /// When the next command is issued, or a request enters, if none comes before that; kNever: nothing waits.
  Cycle next_decision();
  /// Whether a write of this burst waits.
  bool is_pending(std::uint64_t burst) const {
    Index i = written_[burst % written_.size()];
    while (i != kNone && requests_[i].number != burst) i = requests_[i].next_written;
    return i != kNone;
  }

  /// Decides all commands before `until`. A request that comes later for an earlier cycle comes at `until`.
  void advance(Cycle until) {
    if (until > now_) step(until);
  }
  /// Commands before this are decided.
  Cycle decided_until() const { return now_; }
  /// Decides what waits.
  void finish() {
    if (waiting_ != 0) step(kNever);
  }
  /// From when on a read of the bank's group may follow the writes that are decided.
  Cycle after_writes(std::uint32_t bank) const {
    const Cycle pseudo = banks_[bank].pseudo->after_writes;
    const Cycle group = banks_[bank].group->after_writes;
    return group > pseudo ? group : pseudo;
  }
  /// Requests that wait for their column commands.
  std::size_t waiting() const { return waiting_; }
  std::size_t waiting_reads() const { return waiting_reads_; }
  /// The sum of the cycles by which reads were served later than forecast, less what was paid. Nothing is owed after an idle
  /// refresh interval.
  std::int64_t owed() const { return owed_; }
  void pay(std::int64_t cycles) { owed_ -= cycles; }
  /// The part of it that is added to the next forecast: one of as many as the read queue holds, and no more than twice the mean
  /// of as many reads, so that a few do not pay what many owe.
  std::int64_t share() const {
    const auto magnitude = [](std::int64_t n) { return static_cast<std::uint64_t>(n < 0 ? -n : n); };
    const std::uint64_t most = 2 * magnitude(error_sum_);
    const std::uint64_t owed = magnitude(owed_);
    const std::uint64_t cycles = owed < most ? owed : most;
    if (cycles < reads_) return 0;
    const auto part = static_cast<std::int64_t>(reads_shift_ >= 0 ? cycles >> reads_shift_ : cycles / reads_);
    return owed_ < 0 ? -part : part;
  }
  void reset();

 private:
  using Index = RequestQueue::Index;
  static constexpr Index kNone = ~Index{0};
  static constexpr std::uint64_t kNotEntered = ~std::uint64_t{0};
  /// Kinds of requests, and which of them are served.
  using Kind = std::uint8_t;
  static constexpr Kind kReads = 0;
  static constexpr Kind kWrites = 1;

  struct alignas(64) Request {
    std::uint64_t number;  // of the burst
    Cycle at;
    Cycle column;         // as forecast
    std::uint64_t told;   // number of requests before it; kNotEntered: the entry is free
    std::uint64_t order;  // in which they entered the queues, or kNotEntered
    std::uint32_t row;
    std::uint32_t bank;
    Index next;  // of its kind in the bank, younger; of those that are free
    Index next_written;
    Asker asker;
    Kind kind;
    bool opened;    // its row was opened for it: no longer in the queue
    Command first;  // that it needed, as far as it has had any
  };
  struct Group {
    Cycle activate = 0;  // the earliest cycle of each command
    std::array<Cycle, 2> column{};
    Cycle after_writes = 0;
  };
  struct Pseudo {
    Cycle activate = 0;
    std::array<Cycle, 2> column{};
    Cycle after_writes = 0;
    std::array<Cycle, 4> activates{};  // until when each of the last four counts
    unsigned oldest_activate = 0;
    bool writing = false;
  };
  /// From a column command of a kind to those of each kind, in the pseudo channel and in the group, and to a precharge.
  struct AfterColumn {
    std::array<Cycle, 2> pseudo;
    std::array<Cycle, 2> group;
    Cycle precharge;
    // Of a write: to the reads that after_writes() tells of.
    Cycle pseudo_reads;
    Cycle group_reads;
  };
  /// A bank's next command while one kind is served, and for which request.
  struct Choice {
    std::uint64_t order = 0;  // of that request
    Index served = kNone;
    Command command = Command::none;
    Kind kind = kReads;   // of that request
    bool either = false;  // or for alternatives_, if that may be issued earlier
  };
  struct alignas(64) Bank {
    Group* group = nullptr;  // to which it belongs
    Pseudo* pseudo = nullptr;
    std::uint64_t row = 0;
    Cycle activate = 0;  // the earliest cycle of each command
    Cycle precharge = 0;
    std::array<Cycle, 2> column{};
    std::array<Choice, 2> choices{};
    std::array<Index, 2> first{kNone, kNone};  // requests of each kind by arrival, and as they were made
    std::array<Index, 2> last{kNone, kNone};
    Cycle latest = 0;                       // arrival of those that wait
    std::array<std::uint32_t, 2> opened{};  // how many of them have a row opened for them
    std::array<bool, 2> stale{};            // a choice that is made again before it counts
    bool open = false;
    bool conflict = false;  // closed for another row
  };
  /// Banks whose next command is for one of the buses, and which of them is first.
  struct Bus {
    std::array<BankSet, 2> banks;
    Cycle free = 0;     // the first cycle without command
    Cycle at = kNever;  // of the next command, when it is known
    std::uint64_t order = 0;
    std::uint32_t bank = 0;
    Index served = kNone;
    bool known = false;
  };

  static bool has_entered(const Request& request) { return request.order != kNotEntered; }
  static bool is_before(const Request& a, const Request& b) { return a.at != b.at ? a.at < b.at : a.told < b.told; }
  Bus& bus(Command command) { return command == Command::column ? columns_ : rows_; }
  inline Index add(const Burst& burst, Cycle at, Cycle column, Kind kind, Asker asker);
  inline void link(Bank& bank, Index request);
  inline void remove(Bank& bank, Index request);
  RowState row_state_before(const Burst& burst, Cycle at, Cycle refreshed) const;
  static RowState row_state(BankTail& tail, std::uint64_t row, Cycle at) {
    if (const BankTail::Opening* opening = tail.find(row, at)) return {Command::column, opening->column, 0};
    if (tail.count == 0) return {Command::activate, tail.activate, 0};
    return {Command::precharge, tail.precharge, tail.activate};
  }
  void find_tail(BankTail& tail, std::uint32_t index, Cycle at, Cycle refreshed) const;
  void admit();
  void enter(Index request);
  /// Whether the other kind is served from now on.
  bool turns() const {
    const std::size_t reads = queues_[kReads].held();
    const std::size_t writes = queues_[kWrites].held();
    return mode_ == kReads ? writes != 0 && (reads == 0 || writes > high_) : reads != 0 && writes < low_;
  }
  void turn();

  struct Next {
    Command command;
    Index served;
    Index alternative = kNone;  // the oldest of the other kind that wants the same row, if it is younger
  };
  Next next_command(const Bank& bank, Kind mode) const {
    if (bank.opened[mode ^ 1] != 0) [[unlikely]]
      return next_of_both(bank, mode);
    const Index first = bank.first[mode];
    if (first == kNone || !has_entered(requests_[first])) return {Command::none, kNone};
    if (!bank.open) return {Command::activate, first};
    // They enter in the order of the list.
    for (Index i = first; i != kNone && has_entered(requests_[i]); i = requests_[i].next) {
      if (requests_[i].row == bank.row) return {Command::column, i};
      if (in_order_) break;
    }
    return {Command::precharge, first};
  }
  Next next_of_both(const Bank& bank, Kind mode) const;
  void choose(std::uint32_t index, Kind mode, Next next);
  void make_stale(std::uint32_t index, Kind mode);
  static std::array<AfterColumn, 2> after_column(const DramParameters& p);
  void connect_banks();
  void serve(Choice& choice, Next next) {
    const Request& request = requests_[next.served];
    choice = {request.order, next.served, next.command, request.kind, next.alternative != kNone};
    if (choice.either) [[unlikely]]
      alternatives_[request.bank][&choice - banks_[request.bank].choices.data()] = next.alternative;
  }
  template <bool kRow>
  static Cycle ready(const Bank& bank, const Choice& choice);
  static Cycle column_ready(const Bank& bank, Kind kind);
  /// What a bank offers to a bus: from when on, and for which request.
  struct Candidate {
    Cycle at;
    std::uint64_t order;
    Index served;
  };
  template <bool kRow>
  Candidate candidate(std::uint32_t index, Cycle earliest) const;
  template <bool kRow>
  void offer(std::uint32_t index);
  /// False: no bank can have a column command as early as the bus and the pseudo channels allow, or it is not so simple.
  template <Kind kMode>
  bool find_unhindered_column();
  template <bool kRow>
  void find();
  template <bool kRow>
  void find_in_order();
  bool is_oldest(std::uint32_t bank) const;
  void issue_column();
  void issue_row();
  void refresh(Cycle until);
  void note_error(const Request& request);
  void forget_errors();
  /// To `until`, or until none waits.
  void step(Cycle until);

  const DramParameters& parameters_;
  const unsigned bank_bits_;
  const unsigned pseudo_shift_;  // bits of a bank's number below those of its pseudo channel
  const BankTailTiming tail_timing_;
  const Cycle ahead_;  // from an activate's first cycle to its last
  const std::array<AfterColumn, 2> after_column_;
  const Tick burst_time_;
  const Cycle first_refresh_;
  const bool in_order_;
  const bool closes_;
  const bool has_one_pseudo_;
  const std::size_t reads_;  // that the queue holds
  const int reads_shift_;    // log2 of it, -1: it is no power of two
  const std::size_t high_;
  const std::size_t low_;
  DramStatistics& statistics_;

  Cycle now_ = 0;
  Cycle issued_until_ = 0;  // the cycle behind that of the last command
  Cycle refresh_ = 0;       // the next
  Bus columns_;
  Bus rows_;
  std::array<RequestQueue, 2> queues_;
  Kind mode_ = kReads;
  std::array<std::size_t, 2> opened_{};  // requests of each kind that have a row opened for them
  std::size_t waiting_ = 0;              // requests whose column command is to come
  std::size_t waiting_reads_ = 0;        // those of them that read
  std::uint64_t told_ = 0;
  std::uint64_t order_ = 0;
  std::int64_t owed_ = 0;
  std::vector<Decision> decisions_;
  std::vector<Bank> banks_;
  std::vector<BankTail> tails_;  // of the banks
  std::vector<std::array<Index, 2>> alternatives_;
  std::array<std::vector<std::uint32_t>, 2> stale_;
  std::vector<Group> groups_;
  std::vector<Pseudo> pseudos_;
  std::vector<std::int64_t> errors_;  // of the last reads, as many as the queue holds
  std::size_t next_error_ = 0;
  std::int64_t error_sum_ = 0;
  std::vector<Request> requests_;
  Index free_ = kNone;
  std::array<Index, 256> written_{};  // waiting writes by the low bits of their burst numbers
};

inline CommandScheduler::Index CommandScheduler::add(const Burst& burst, Cycle at, Cycle column, Kind kind, Asker asker) {
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
                      .told = told_++,
                      .order = kNotEntered,
                      .row = static_cast<std::uint32_t>(burst.row),
                      .bank = burst.bank,
                      .next = kNone,
                      .next_written = kNone,
                      .asker = asker,
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

}  // namespace lacuna
