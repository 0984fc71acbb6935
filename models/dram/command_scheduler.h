// Decides the commands of a DRAM controller in time order, up to a cycle until which all requests are known. No SystemC.
//
// Policy: the channel has a queue of reads and a queue of writes. Each is served first-ready, first-come, first-served
// (FR-FCFS). In every cycle, the row bus and the column bus carry at most one command each: that of the oldest request whose
// next command can be issued. A row is not closed while a request of the kind being served can use the row. A request leaves
// its queue when a row is opened for that request, or else with its column command; at most 32 requests whose rows are open
// wait outside of the queues. With `scheduler = fcfs` only the oldest request of each pseudo channel issues commands.
//
// The controller switches to writes when they occupy more than `write_high` of their queue's entries or when the read queue is
// empty, and back to reads when writes occupy less than `write_low` and the read queue is not empty (Ramulator2's generic
// controller: wr_high_watermark, wr_low_watermark).
//
// Refresh: all banks of a pseudo channel are refreshed together, for tRP + tRFC, as soon as their open rows may be closed.
//
// Order within a cycle: requests enter their queues; the controller decides whether reads or writes are served; each bus takes
// its command. An entry freed in a cycle can be used in the next one.
//
// Implementation: event-driven. Each bank has one next command; time advances to the earliest of these commands, to the next
// request or to the next refresh. A bank's next command is chosen when the bank's state changes. Two choices are kept, one for
// serving reads and one for serving writes, so that few choices must be recomputed after a bus turnaround. A bank whose row was
// opened for a request of the kind that is not served may have two candidates: the earlier one is issued.
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
    std::uint32_t bank;  ///< bank's number in the channel: bits of pseudo channel, group, bank from the top
  };
  enum class Command : std::uint8_t { none, column, precharge, activate };
  /// State that a read will find in its bank after the reads that already wait for the bank.
  struct RowState {
    Command command;  ///< first command that the read needs
    Cycle ready;      ///< earliest cycle of `command`; for an activate, the earliest last cycle
    Cycle cycle;      ///< earliest last cycle of the activate, if a precharge is needed first
  };

  CommandScheduler(const DramParameters& parameters, const RefreshTimes& refresh, DramStatistics& statistics);

  /// State that a read of `burst` will find if it arrives at `at`. `refreshed`: due time of the last refresh before `at`, which
  /// closes all rows.
  inline RowState row_state(const Burst& burst, Cycle at, Cycle refreshed);
  /// Identifies a request in decisions().
  using Requester = std::uint32_t;
  static constexpr Requester kNoRequester = ~Requester{0};
  /// Adds a read that arrives at `at`. `column`: the forecast cycle of its column command.
  inline void read(const Burst& burst, Cycle at, Cycle column);
  /// Adds a read whose column command decisions() reports.
  inline void read_later(const Burst& burst, Cycle at, Requester requester);
  /// Adds a write that arrives at `at`.
  inline void write(const Burst& burst, Cycle at, Requester requester = kNoRequester);
  /// Whether the write queue has room for `count` more writes, whatever requests follow.
  bool has_room_for_writes(std::size_t count) const { return queues_[kWrites].has_room(count); }
  struct Decision {
    Requester requester;
    Command first;  ///< first command that a read needed
    Cycle at;       ///< cycle of a read's column command, or of a write's entry into its queue
  };
  /// Decisions since the last clear_decisions(), in time order, for requests that have a requester.
  const std::vector<Decision>& decisions() const { return decisions_; }
  void clear_decisions() { decisions_.clear(); }
  /// Earliest cycle in which a command may be issued or a request may enter its queue, if no further request arrives before
  /// that; kNever: no request waits.
  Cycle next_decision();
  /// Whether a write of this burst waits.
  bool is_pending(std::uint64_t burst) const {
    Index i = written_[burst % written_.size()];
    while (i != kNone && requests_[i].number != burst) i = requests_[i].next_written;
    return i != kNone;
  }

  /// Decides all commands before `until`. A request added later for an earlier cycle is treated as arriving at `until`.
  void advance(Cycle until) {
    if (until > now_) step(until);
  }
  /// Cycle up to which all commands are decided.
  Cycle decided_until() const { return now_; }
  /// Decides all commands of the waiting requests.
  void finish() {
    if (waiting_ != 0) step(kNever);
  }
  /// Earliest column command of a read in the bank's group after the writes decided so far.
  Cycle after_writes(std::uint32_t bank) const {
    const Cycle pseudo = banks_[bank].pseudo->after_writes;
    const Cycle group = banks_[bank].group->after_writes;
    return group > pseudo ? group : pseudo;
  }
  /// Number of requests that wait for their column commands.
  std::size_t waiting() const { return waiting_; }
  std::size_t waiting_reads() const { return waiting_reads_; }
  /// Sum of the cycles by which reads were served later than forecast, minus the cycles charged by pay(). Reset to 0 after an
  /// idle refresh interval.
  std::int64_t owed() const { return owed_; }
  /// Subtracts `cycles` that have been charged to a read from owed().
  void pay(std::int64_t cycles) { owed_ -= cycles; }
  /// Share of owed() that is charged to the next forecast: 1 / read_queue, but at most twice the mean error of the last
  /// read_queue reads, so that a few reads are not charged the errors of many.
  inline std::int64_t share() const;
  void reset();

 private:
  using Index = RequestQueue::Index;
  static constexpr Index kNone = ~Index{0};
  static constexpr std::uint64_t kNotEntered = ~std::uint64_t{0};
  /// Kind of a request, or the kind that is served.
  using Kind = std::uint8_t;
  static constexpr Kind kReads = 0;
  static constexpr Kind kWrites = 1;

  struct alignas(64) Request {
    std::uint64_t number;    // address in the channel, in bursts
    Cycle at;                // arrival
    Cycle column;            // forecast of the column command
    std::uint64_t sequence;  // number of requests added earlier; kNotEntered: the record is free
    std::uint64_t order;     // position in the order of entering the queues, or kNotEntered
    std::uint32_t row;
    std::uint32_t bank;
    Index next;          // next younger request of its kind in the bank, or next free record
    Index next_written;  // next write with the same hash of the burst number
    Requester requester;
    Kind kind;
    bool opened;    // a row was opened for the request, which has left its queue
    Command first;  // first command issued for the request; column: none so far
  };
  struct Group {
    Cycle activate = 0;             // earliest activate
    std::array<Cycle, 2> column{};  // earliest column command of each kind
    Cycle after_writes = 0;         // earliest read after the writes so far
  };
  struct Pseudo {
    Cycle activate = 0;                // earliest activate
    std::array<Cycle, 2> column{};     // earliest column command of each kind
    Cycle after_writes = 0;            // earliest read after the writes so far
    std::array<Cycle, 4> activates{};  // end of the tFAW window of each of the last four activates
    unsigned oldest_activate = 0;
    bool writing = false;
  };
  /// Minimum cycles from a column command of one kind to further commands: column commands of each kind, in the pseudo channel
  /// and in the group, and a precharge.
  struct AfterColumn {
    std::array<Cycle, 2> pseudo;
    std::array<Cycle, 2> group;
    Cycle precharge;
    // Cycles from a write to the earliest read, for after_writes().
    Cycle pseudo_reads;
    Cycle group_reads;
  };
  /// A bank's next command while one kind is served, and the request that the command serves.
  struct Choice {
    std::uint64_t order = 0;  // `order` of the request
    Index served = kNone;     // the request
    Command command = Command::none;
    Kind kind = kReads;   // kind of the request
    bool either = false;  // the request in alternatives_ takes precedence if its command can be issued earlier
  };
  struct alignas(64) Bank {
    Group* group = nullptr;                    // bank group of the bank
    Pseudo* pseudo = nullptr;                  // pseudo channel of the bank
    std::uint64_t row = 0;                     // the open row
    Cycle activate = 0;                        // earliest activate
    Cycle precharge = 0;                       // earliest precharge
    std::array<Cycle, 2> column{};             // earliest column command of each kind
    std::array<Choice, 2> choices{};           // next command while reads or writes are served
    std::array<Index, 2> first{kNone, kNone};  // oldest request of each kind; lists are ordered by arrival, then `sequence`
    std::array<Index, 2> last{kNone, kNone};   // youngest request of each kind
    Cycle latest = 0;                          // latest arrival of the bank's waiting requests
    std::array<std::uint32_t, 2> opened{};     // number of waiting requests of each kind whose row was opened for them
    std::array<bool, 2> stale{};               // whether each of `choices` must be recomputed before use
    bool open = false;                         // whether a row is open
    bool conflict = false;                     // whether the last row was closed to open another row
  };
  /// Banks whose next command needs the bus, and the first of these commands.
  struct Bus {
    std::array<BankSet, 2> banks;
    Cycle free = 0;     // first cycle in which the bus is free
    Cycle at = kNever;  // cycle of the next command, if `known`
    std::uint64_t order = 0;
    std::uint32_t bank = 0;
    Index served = kNone;
    bool known = false;
  };

  static bool has_entered(const Request& request) { return request.order != kNotEntered; }
  static bool is_before(const Request& a, const Request& b) { return a.at != b.at ? a.at < b.at : a.sequence < b.sequence; }
  Bus& bus(Command command) { return command == Command::column ? columns_ : rows_; }
  inline Index add(const Burst& burst, Cycle at, Cycle column, Kind kind, Requester requester);
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
  /// Whether the scheduler must switch to the other kind of requests.
  bool turns() const {
    const std::size_t reads = queues_[kReads].held();
    const std::size_t writes = queues_[kWrites].held();
    return mode_ == kReads ? writes != 0 && (reads == 0 || writes > high_) : reads != 0 && writes < low_;
  }
  void turn();

  struct Next {
    Command command;
    Index served;
    Index alternative = kNone;  // oldest request of the other kind for the same row, if younger than `served`
  };
  inline Next next_command(const Bank& bank, Kind mode) const;
  Next next_of_both(const Bank& bank, Kind mode) const;
  void choose(std::uint32_t index, Kind mode, Next next);
  void make_stale(std::uint32_t index, Kind mode);
  static std::array<AfterColumn, 2> after_column(const DramParameters& p);
  void connect_banks();
  inline void serve(Choice& choice, Next next);
  template <bool kRow>
  static Cycle ready(const Bank& bank, const Choice& choice);
  static Cycle column_ready(const Bank& bank, Kind kind);
  /// A bank's next command for a bus: earliest cycle, age and request.
  struct Candidate {
    Cycle at;
    std::uint64_t order;
    Index served;
  };
  template <bool kRow>
  Candidate candidate(std::uint32_t index, Cycle earliest) const;
  template <bool kRow>
  void offer(std::uint32_t index);
  /// Finds the next column command if some bank can issue one as early as the bus and the pseudo channels allow. Returns false
  /// if no bank can, or if requests of both kinds are candidates.
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
  void clear_errors();
  /// Advances to `until`; if that is kNever, until no request waits.
  void step(Cycle until);

  const DramParameters& parameters_;
  const unsigned bank_bits_;
  const unsigned pseudo_shift_;  // bits of a bank's number below those of the pseudo channel
  const BankTailTiming tail_timing_;
  const Cycle ahead_;  // cycles from an activate's first cycle to its last
  const std::array<AfterColumn, 2> after_column_;
  const Tick burst_time_;
  const Cycle first_refresh_;
  const bool in_order_;
  const bool closes_;
  const bool has_one_pseudo_;
  const std::size_t reads_;  // entries of the read queue
  const int reads_shift_;    // log2 of reads_; -1: not a power of two
  const std::size_t high_;   // number of writes above which writes are served
  const std::size_t low_;    // number of writes below which reads are served
  DramStatistics& statistics_;

  Cycle now_ = 0;
  Cycle issued_until_ = 0;  // cycle after the last command
  Cycle refresh_ = 0;       // cycle of the next refresh
  Bus columns_;
  Bus rows_;
  std::array<RequestQueue, 2> queues_;
  Kind mode_ = kReads;                   // kind that is being served
  std::array<std::size_t, 2> opened_{};  // number of waiting requests of each kind whose row was opened for them
  std::size_t waiting_ = 0;              // number of requests whose column command is not issued
  std::size_t waiting_reads_ = 0;        // number of reads among the waiting requests
  std::uint64_t sequence_ = 0;           // number of requests added
  std::uint64_t order_ = 0;              // number of requests that have entered their queues
  std::int64_t owed_ = 0;                // value of owed()
  std::vector<Decision> decisions_;
  std::vector<Bank> banks_;
  std::vector<BankTail> tails_;                      // forecast state of each bank
  std::vector<std::array<Index, 2>> alternatives_;   // alternative request by bank and kind: see Choice::either
  std::array<std::vector<std::uint32_t>, 2> stale_;  // banks with a stale choice, by kind
  std::vector<Group> groups_;
  std::vector<Pseudo> pseudos_;
  std::vector<std::int64_t> errors_;  // forecast errors of the last reads_ reads (ring)
  std::size_t next_error_ = 0;        // next element of errors_ to be replaced
  std::int64_t error_sum_ = 0;        // sum of errors_
  std::vector<Request> requests_;
  Index free_ = kNone;                // first free record of requests_
  std::array<Index, 256> written_{};  // waiting writes, by the low bits of the burst number
};

}  // namespace lacuna
