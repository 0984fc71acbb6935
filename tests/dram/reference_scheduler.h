// The command scheduler's rules, looked at cycle by cycle and from what was issued before: what
// models/dram/command_scheduler.h must do command for command. Slow, with nothing computed ahead.
//
// A bank's next command is for the first of its requests that finds its row open, or for the first of all, by arrival. It is
// chosen after each column command in the bank, after a refresh and when the other kind is served from now on. A request that
// enters meanwhile only stops a precharge of the row that it needs.
//
// In a cycle: refresh, requests enter their queues, the kind that is served is chosen, the column bus takes a command, the row
// bus takes one; again as long as anything happens. The scheduler jumps from command to command, and commands that it knows to
// be next go before the requests that arrive in their cycle: only in a cycle that advance() begins with, or of a refresh,
// requests are first.
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

  /// A request that comes at `at`, which is not over. Requests of one cycle come in the order of the calls.
  void request(std::uint64_t id, bool write, std::uint32_t bank, std::uint64_t row, Cycle at);
  /// One cycle, with which the scheduler's time begins to go on or through which it goes. Returns the request whose column
  /// command was issued.
  std::optional<std::uint64_t> tick(bool begins);
  Cycle now() const { return now_; }
  bool idle() const { return requests_.empty(); }

 private:
  enum class Command { none, column, precharge, activate };
  struct Request {
    std::uint64_t id;
    bool write;
    std::uint32_t bank;
    std::uint64_t row;
    Cycle at;
    bool entered = false;
    std::uint64_t order = 0;
    bool opened = false;  // its row was opened for it: no longer in the queue
  };
  /// What happened last in a bank, if ever.
  struct Bank {
    bool open = false;
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
  std::size_t held(bool write) const;
  bool is_served(const Request& request) const { return request.entered && (request.opened || request.write == write_mode_); }
  bool refresh();
  bool enter();
  void choose_mode();
  /// A bank's next command and for which request.
  struct Next {
    Command command = Command::none;
    std::uint64_t id = 0;
  };
  Next next_of(std::uint32_t bank) const;
  void choose_next_of_all();
  Request& request_of(const Next& next);
  /// The earliest precharge of an open row.
  Cycle precharge_of(const Bank& bank) const;
  bool may_activate(std::uint32_t bank) const;
  bool may_issue_column(const Request& request) const;
  /// The oldest request whose next command may be issued now, of those for the column bus or for the row bus.
  Next choose(bool column);
  bool issue_column(std::optional<std::uint64_t>& issued);
  bool issue_row();

  const DramParameters parameters_;
  std::vector<Request> requests_;  // by arrival
  std::vector<Bank> banks_;
  std::vector<Next> next_;       // of the banks
  std::vector<Issued> columns_;  // newest last
  std::vector<Issued> activates_;
  bool write_mode_ = false;
  Cycle now_ = 0;
  Cycle row_bus_ = 0;  // the first cycle that it is free in
  Cycle column_bus_ = 0;
  Cycle next_refresh_;
  std::uint64_t order_ = 0;
};

}  // namespace lacuna::test
