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
// Nothing is done cycle by cycle: each bank has one next command, and time goes on to the earliest of them, to the next request
// or to the next refresh.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/units.h"
#include "models/dram/dram_parameters.h"
#include "models/dram/refresh_times.h"

namespace lacuna {

class CommandScheduler {
 public:
  using Cycle = std::uint64_t;

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

  /// The cycle from `at` on in which the queue takes a read. When requests come in order, and as many wait as it holds,
  /// commands are decided until one leaves.
  Cycle room_for_read(Cycle at);
  /// For a read that arrives at `at`; no row stays open across `refreshed`.
  RowState row_state(const Burst& burst, Cycle at, Cycle refreshed);
  /// A read that arrives at `at` and enters the queue at `enters`, as room_for_read() says. `column`: its column command as
  /// forecast.
  void read(const Burst& burst, Cycle at, Cycle enters, Cycle column);
  void read(const Burst& burst, Cycle at, Cycle column) { read(burst, at, at, column); }
  /// Returns the cycle in which the queue takes it, as for a read; `expected` when the queue is full and requests do not come
  /// in order.
  Cycle write(const Burst& burst, Cycle at, Cycle expected);
  /// Whether a write of this burst waits.
  bool is_pending(std::uint64_t burst) const { return written_[burst % written_.size()] != 0 && find_pending(burst); }

  /// Decides all commands before `until`. A request that comes later for an earlier cycle comes at `until`.
  void advance(Cycle until) {
    if (until > now_) step(until, nullptr);
  }
  /// Decides what waits.
  void finish() {
    if (waiting_ != 0) step(kNever, nullptr);
  }
  /// From when on a read of the bank's group may follow the writes that are decided.
  Cycle after_writes(std::uint32_t bank) const {
    const std::size_t group = bank >> bank_bits_;
    const Cycle pseudo = pseudos_[group >> group_bits_].read;
    return groups_[group].read > pseudo ? groups_[group].read : pseudo;
  }
  /// Requests that wait for their column commands.
  std::size_t waiting() const { return waiting_; }
  /// The sum of the cycles by which reads were served later than forecast, less what was paid. Nothing is owed after an idle
  /// refresh interval.
  std::int64_t owed() const { return owed_; }
  void pay(std::int64_t cycles) { owed_ -= cycles; }
  /// What the next read is told of it: one of as many parts as the read queue holds, and no more than twice the mean of as many
  /// reads, so that what many owe is not told to a few.
  std::int64_t share() const {
    const auto count = static_cast<std::int64_t>(errors_.size());
    const std::int64_t most = 2 * (error_sum_ < 0 ? -error_sum_ : error_sum_) / count;
    const std::int64_t part = owed_ / count;
    return part > most ? most : part < -most ? -most : part;
  }
  void reset();

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  static constexpr Cycle kNever = ~Cycle{0};

  struct Request {
    std::uint64_t row;
    std::uint64_t number;  // of the burst
    Cycle at;
    Cycle column;         // as forecast
    std::uint64_t order;  // in which they entered the queues
    std::uint32_t bank;
    Index next;  // of the bank, younger
    bool write;
    bool entered;  // the queue
    bool opened;   // its row was opened for it: no longer in the queue
  };
  struct Group {
    Cycle activate = 0;  // the earliest cycle of each command
    Cycle column = 0;
    Cycle read = 0;
  };
  struct Pseudo {
    Cycle activate = 0;
    Cycle column = 0;
    Cycle read = 0;
    Cycle write = 0;
    std::array<Cycle, 4> activates{};  // until when each of the last four counts
    unsigned oldest_activate = 0;
    bool writing = false;
  };
  /// What reads find in a bank behind those that wait there.
  struct Tail {
    /// A row that is or will be open: the earliest column command of another read, and when it is closed.
    struct Opening {
      std::uint64_t row = 0;
      Cycle column = 0;
      Cycle closed = kNever;
    };
    static constexpr unsigned kOpenings = 4;

    bool known = false;
    unsigned count = 0;
    Cycle at = 0;         // the arrival of the last read
    Cycle activate = 0;   // the earliest of the next row; the command's last cycle counts
    Cycle precharge = 0;  // the earliest of the last row
    std::array<Opening, kOpenings> openings{};

    /// The opening that a read finds, or nullptr.
    Opening* find(std::uint64_t row, Cycle when) {
      for (unsigned i = count; i-- > 0;) {
        if (openings[i].row == row) return when < openings[i].closed ? &openings[i] : nullptr;
      }
      return nullptr;
    }
  };
  struct alignas(64) Bank {
    std::uint64_t row = 0;
    Cycle activate = 0;  // the earliest cycle of each command
    Cycle precharge = 0;
    Cycle read = 0;
    Cycle write = 0;
    std::uint64_t order = 0;  // of the request that is served
    Index first = kNone;      // requests by arrival
    Index last = kNone;
    Index served = kNone;     // the one whose command is next
    std::uint16_t place = 0;  // among those that want the same bus
    Command command = Command::none;
    bool writes = false;  // the request that is served does
    bool open = false;
    bool conflict = false;  // closed for another row
    // In another cache line: of the forecast.
    Tail tail{};
  };
  struct Queue {
    std::size_t room = 0;
    std::size_t held = 0;         // entries that are taken
    Cycle next = kNever;          // when the next one enters
    std::vector<Index> coming{};  // requests that have not entered, by arrival
    std::size_t head = 0;         // of them, the first that counts
    std::uint64_t left = 0;       // requests that have left
  };
  /// Banks whose next command is for one of the buses, and which of them is first.
  struct Bus {
    std::vector<std::uint16_t> banks{};
    Cycle free = 0;     // the first cycle without command
    Cycle at = kNever;  // of the next command, when it is known
    std::uint64_t order = 0;
    std::uint32_t bank = 0;
    bool known = false;
  };

  bool is_served(const Request& request) const { return request.entered && (request.opened || request.write == write_mode_); }
  Queue& queue(bool write) { return write ? writes_ : reads_; }
  Bus& bus(Command command) { return command == Command::column ? columns_ : rows_; }
  bool is_full(const Queue& queue, Cycle at) const;
  Cycle wait_for_room(const Queue& queue, Cycle at);
  void add(const Burst& burst, Cycle at, Cycle column, bool write);
  void link(Index request);
  void note_order(Cycle at) {
    ordered_ = at < latest_ ? 0 : ordered_ + 1;
    latest_ = at > latest_ ? at : latest_;
  }
  /// One more read, of this row and arrival.
  void extend(Tail& tail, std::uint64_t row, Cycle at) const;
  Tail find_tail(const Bank& bank, Cycle at, Cycle refreshed) const;
  void insert(Queue& queue, Index request);
  void expect(Queue& queue);
  void admit(Queue& queue);
  void leave(Request& request);
  bool find_pending(std::uint64_t burst) const;
  void choose_mode();
  struct Next {
    Command command;
    Index served;
  };
  Next next_command(const Bank& bank) const;
  void serve(Bank& bank, Command command, Index served) {
    bank.command = command;
    bank.served = served;
    bank.order = requests_[served].order;
    bank.writes = requests_[served].write;
  }
  void choose_all();
  void set_command(std::uint32_t index, Command command, Index served);
  template <bool kRow>
  Cycle ready(const Bank& bank, std::uint32_t index) const;
  template <bool kRow>
  void offer(std::uint32_t index);
  template <bool kRow>
  void find();
  bool is_oldest(std::uint32_t bank) const;
  void issue_column();
  void issue_row();
  void refresh(Cycle until);
  void remove(Bank& bank, Index request);
  void note_error(const Request& request);
  void forget_errors();
  /// To `until`, or until a request leaves the queue, or until none waits.
  void step(Cycle until, const Queue* leaving);

  const DramParameters& parameters_;
  const unsigned group_bits_;
  const unsigned bank_bits_;
  const Cycle ahead_;       // from an activate's first cycle to its last
  const Cycle column_gap_;  // of a pseudo channel
  const Cycle group_gap_;
  const Tick burst_time_;
  const Cycle first_refresh_;
  const bool in_order_;
  const bool closes_;
  const std::size_t high_;
  const std::size_t low_;
  DramStatistics& statistics_;

  Cycle now_ = 0;
  Cycle refresh_ = 0;  // the next
  Bus columns_;
  Bus rows_;
  Queue reads_;
  Queue writes_;
  bool write_mode_ = false;
  std::size_t opened_ = 0;
  std::size_t waiting_ = 0;  // requests whose column command is to come
  std::uint64_t order_ = 0;
  Cycle latest_ = 0;         // arrival
  std::size_t ordered_ = 0;  // so many of the last requests came in the order of arrival
  std::int64_t owed_ = 0;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Pseudo> pseudos_;
  std::vector<std::int64_t> errors_;  // of the last reads, as many as the queue holds
  std::size_t next_error_ = 0;
  std::int64_t error_sum_ = 0;
  std::vector<Request> requests_;
  std::vector<Index> free_;
  std::array<std::uint8_t, 256> written_{};  // how many waiting writes have these low bits of a burst number
};

}  // namespace lacuna
