// Reports of dispatches and of engines to the packet processor's thread: completions and faults are stored here until the
// thread runs, because other processes report them. A dispatch is identified by slot and packet index, so a report may outlive
// its queue.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "models/command/packet_outcome.h"
#include "models/compute/compute_unit.h"
#include "models/compute/dispatch.h"

namespace lacuna {

class DispatchReports {
 public:
  struct Completion {
    unsigned slot;
    std::uint64_t packet;
  };
  struct Fault {
    unsigned slot;
    std::uint64_t packet;
    WavefrontFault fault;
    std::string text;  ///< one line
  };

  /// A packet of an engine (models/command/packet_engine.h) that could not be completed.
  struct Failure {
    unsigned slot;
    std::uint64_t packet;
    PacketRefusal refusal;
  };

  void add_completion(unsigned slot, std::uint64_t packet) { completions_.push_back({slot, packet}); }
  void add_failure(Failure failure) { failures_.push_back(std::move(failure)); }
  /// Whether a fault of the dispatch is pending. Further faults of the dispatch need not be added: the first one stops its
  /// queue.
  bool has_fault(const Dispatch& dispatch) const;
  void add_fault(const Dispatch& dispatch, const WavefrontFault& fault, std::string text);
  /// Records a warning about an instruction of a kernel. Returns true if it is the first for that instruction: each compute
  /// unit warns once, and only the earliest warning is reported.
  bool is_new_warning(const Dispatch& dispatch, std::uint64_t pc) { return warned_.emplace(dispatch.kernel, pc).second; }

  /// Removes the next completion, in order of arrival; nullopt if none is left.
  std::optional<Completion> next_completion();
  /// Removes the next fault, in order of arrival; nullopt if none is left.
  std::optional<Fault> next_fault();
  /// Removes the next failure, in order of arrival; nullopt if none is left.
  std::optional<Failure> next_failure();
  bool empty() const { return completions_.empty() && faults_.empty() && failures_.empty(); }
  /// Drops the pending reports of a slot, except warnings.
  void drop(unsigned slot);
  /// Drops the pending reports of all slots, except warnings.
  void clear();

 private:
  std::deque<Completion> completions_;
  std::deque<Fault> faults_;
  std::deque<Failure> failures_;
  std::set<std::pair<std::string, std::uint64_t>> warned_;  ///< kernel and PC
};

}  // namespace lacuna
