// Simulated time of a GPU's compute units: all of them advance together, in windows.
//
// Within a window the units of a group, which share first-level caches, work on nothing but their own state and those caches.
// What leaves the caches is collected. At the window's edge all of it goes down in order of simulated time, and the answers
// come back: tokens are completed, translations become known. A window is no longer than the shortest way from a request to its
// answer, so that nothing that happens in it depends on what others do in it. Therefore
//   - shared caches, network and DRAM are asked in time order, whatever the host does;
//   - a group's state stays in the host's caches while it works.
// A unit that learns late of something that happened within a window that is over, such as a workgroup that was launched, works
// on it in the next window at its own time. It is never further behind than a window.
#pragma once

#include <systemc>
#include <vector>

#include "models/common/units.h"
#include "models/compute/compute_unit_parameters.h"

namespace lacuna {

class ComputeUnit;

/// What lies behind the groups' first-level caches.
class WindowEdge {
 public:
  virtual ~WindowEdge() = default;
  /// All groups have worked up to `end`: serves what they have asked for until then and tells them the answers.
  virtual void settle(Tick end) = 0;
  /// When the next request leaves that has been made already; kNever: there is none.
  virtual Tick next() const = 0;
  /// No request comes for a time before `horizon`.
  virtual void retire(Tick horizon) = 0;
};

class Windows : public sc_core::sc_module {
 public:
  /// `length`: of a window, at least 1. Functional timing has no answers to wait for and takes longer ones, so that a
  /// wavefront's state stays in the host's caches.
  Windows(sc_core::sc_module_name name, Clock clock, TimingMode mode, Cycles length);

  /// Units that share first-level caches.
  void add_group(std::vector<ComputeUnit*> units);
  /// Null: everything is answered at once.
  void attach(WindowEdge* edge) { edge_ = edge; }
  Cycles length() const { return length_; }

  /// As new, when all units are.
  void reset();
  /// A unit has something to do in cycle `at`.
  void wake(Cycles at);

 private:
  void run();
  void run_group(const std::vector<ComputeUnit*>& group, Cycles begin);
  void retire(Tick now);

  const Clock clock_;
  const bool timed_;
  const Cycles length_;
  std::vector<std::vector<ComputeUnit*>> groups_;
  WindowEdge* edge_ = nullptr;
  Cycles end_{};  ///< of the last window
  Tick next_retire_{};
  std::vector<ComputeUnit*> busy_;  ///< of the group that works
  sc_core::sc_event wake_;
};

}  // namespace lacuna
