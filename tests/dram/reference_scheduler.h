// The rules of the command scheduler (models/dram/command_scheduler.h), applied cycle by cycle, using only the requests and the
// commands issued before. Slow, without any precomputation.
//
// A cycle:
//   1. Refresh. When one is due, all rows are closed.
//   2. Requests whose arrival has come enter the queue of their kind while it has room: by arrival, those of one cycle in the
//      order of the calls. A request is older than those that enter after it.
//   3. The kind that is served is decided: writes from more than `write_high` of their queue down to fewer than `write_low`
//      entries, and whenever writes wait and no read does.
//   4. The column bus takes the command of the oldest request whose column command may be issued.
//   5. The row bus takes a precharge or an activate, likewise. A row is not closed while a request that is served can use it.
//
// Requests of the kind that is served have commands, and so have those of the other kind whose row was opened for them. A
// request whose row was opened for it leaves its queue, but no more than 32 do before they are served. With `scheduler = fcfs`
// only the oldest of them in each pseudo channel has a command, even if it closes a row that younger ones can use, and a cycle
// with a column command has no row command.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/dram/dram_parameters.h"

namespace lacuna::test {

class ReferenceScheduler {
 public:
  using Cycle = std::uint64_t;

  explicit ReferenceScheduler(const DramParameters& parameters);

  /// A request that arrives at `at`, which has not passed.
  void request(std::uint64_t id, bool write, std::uint32_t bank, std::uint64_t row, Cycle at);

  enum class Command { column, precharge, activate };
  struct Event {
    std::uint64_t id;
    bool write;
    bool enters;    ///< its queue; otherwise its column command is issued
    Command first;  ///< that it needed, when its column command is issued
  };
  /// Simulates one cycle. Returns its events in order; the last may be a column command.
  std::vector<Event> tick();
  Cycle now() const { return now_; }
  bool idle() const { return arriving_.empty() && entered_.empty(); }

 private:
  struct Request {
    std::uint64_t id;
    bool write;
    std::uint32_t bank;
    std::uint64_t row;
    Cycle at;
    bool opened = false;  // its row was opened for it: no longer in the queue
    Command first = Command::column;
  };
  /// Latest events in a bank, if any.
  struct Bank {
    bool open = false;
    bool conflict = false;  // closed by a precharge that a request needed
    std::uint64_t row = 0;
    std::optional<Cycle> activated{};  // the command's first cycle
    std::optional<Cycle> read{};
    std::optional<Cycle> written{};
    std::optional<Cycle> precharged{};
    std::optional<Cycle> refreshed{};  // when it began, all rows closed
  };
  struct Issued {
    Cycle at;
    std::uint32_t bank;
    bool write;
  };

  std::uint32_t group_of(std::uint32_t bank) const { return bank / parameters_.banks_per_group; }
  std::uint32_t pseudo_of(std::uint32_t bank) const { return group_of(bank) / parameters_.bank_groups; }
  bool in_order() const { return parameters_.scheduler == DramScheduler::fcfs; }
  std::size_t held(bool write) const;
  void refresh();
  void enter(std::vector<Event>& events);
  void choose_mode();
  bool is_served(const Request& request) const { return request.opened || request.write == write_mode_; }
  bool is_first_of_pseudo(const Request& request) const;
  Command next_command(const Request& request) const;
  bool may_issue(const Request& request, Command command) const;
  /// The earliest precharge of an open row.
  Cycle precharge_of(const Bank& bank) const;
  bool may_close(std::uint32_t bank) const;
  bool may_activate(std::uint32_t bank) const;
  bool may_issue_column(const Request& request) const;
  /// The oldest request whose next command, for the column bus or for the row bus, may be issued now; the end if there is
  /// none.
  std::vector<Request>::iterator choose(bool column);
  void issue_column(std::vector<Event>& events);
  void issue_row();

  const DramParameters parameters_;
  std::vector<Request> arriving_;  // by arrival
  std::vector<Request> entered_;   // oldest first
  std::vector<Bank> banks_;
  std::vector<Issued> columns_;  // newest last
  std::vector<Issued> activates_;
  bool write_mode_ = false;
  Cycle now_ = 0;
  Cycle row_bus_ = 0;  // the first cycle in which it is free
  Cycle next_refresh_;
};

}  // namespace lacuna::test
