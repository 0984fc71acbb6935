// The rules of the command scheduler (models/dram/command_scheduler.h), applied cycle by cycle to the requests and the commands
// issued so far: slow, but without precomputation.
//
// A cycle:
//   1. Refresh. When a refresh is due, all rows are closed.
//   2. Requests that have arrived enter the queue of their kind while it has room, in order of arrival; requests that arrive in
//      the same cycle enter in the order of the calls. The order of entry determines which request is older.
//   3. The kind that is served is decided. The controller switches to writes when they occupy more than `write_high` of their
//      queue or when only writes are queued, and back to reads, if any are queued, when writes occupy less than `write_low`.
//   4. The column bus carries the command of the oldest request whose column command may be issued.
//   5. The row bus carries a precharge or an activate, chosen likewise. A row is not closed while a request that is served can
//      use that row.
//
// Commands are issued for requests of the kind that is served, and for requests of the other kind whose row was opened for
// them. A request leaves its queue when a row is opened for it, if fewer than 32 such requests wait. With `scheduler = fcfs`,
// commands are issued only for the oldest request of each pseudo channel, even if they close a row that younger requests can
// use, and a cycle with a column command has no row command.
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

  /// Adds a request that arrives at `at`, not before the current cycle.
  void request(std::uint64_t id, bool write, std::uint32_t bank, std::uint64_t row, Cycle at);

  enum class Command { column, precharge, activate };
  struct Event {
    std::uint64_t id;
    bool write;
    bool enters;    ///< true: the request enters its queue; false: its column command is issued
    Command first;  ///< first command that the request needed, if `enters` is false
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
    bool opened = false;  // a row was opened for the request, which has left its queue
    Command first = Command::column;
  };
  /// State of a bank, and cycles of its latest events.
  struct Bank {
    bool open = false;
    bool conflict = false;  // the last row was closed by a precharge for a request
    std::uint64_t row = 0;
    std::optional<Cycle> activated{};  // the command's first cycle
    std::optional<Cycle> read{};
    std::optional<Cycle> written{};
    std::optional<Cycle> precharged{};
    std::optional<Cycle> refreshed{};  // cycle in which the refresh began, with all rows closed
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
  /// The oldest request whose next command, for the column bus or for the row bus, may be issued now; end() if there is none.
  std::vector<Request>::iterator choose(bool column);
  void issue_column(std::vector<Event>& events);
  void issue_row();

  const DramParameters parameters_;
  std::vector<Request> arriving_;  // requests that have not entered, ascending by arrival
  std::vector<Request> entered_;   // requests that have entered, oldest first
  std::vector<Bank> banks_;
  std::vector<Issued> columns_;  // column commands issued, newest last
  std::vector<Issued> activates_;
  bool write_mode_ = false;
  Cycle now_ = 0;
  Cycle row_bus_ = 0;  // first cycle in which the row bus is free
  Cycle next_refresh_;
};

}  // namespace lacuna::test
