// Simulated time of a GPU's compute units: all of them advance together, in windows.
//
// Within a window the units of a group, which share first-level caches, work on nothing but their own state, those caches, and
// memory as it was at the window's beginning with what the group itself has stored since. What leaves the caches is collected,
// stores and atomic operations are kept back. At the window's edge, in this order and one after the other,
//   1. stores are written to memory, group after group;
//   2. atomic operations, and what has to come after them, are performed in order of simulated time, then of units, then of
//      issue;
//   3. requests go down in order of simulated time, and the answers come back: tokens are completed, translations become known;
//   4. what units report is delivered in order of simulated time, then of units.
// A window is no longer than the shortest way from a request to its answer, so that nothing that happens in it depends on what
// others do in it. Therefore
//   - shared caches, network and DRAM are asked in time order, whatever the host does;
//   - a group's state stays in the host's caches while it works;
//   - groups work at the same time on several threads of the host, and everything comes out the same on any number of them,
//     even where wavefronts race for data.
// In functional mode there are no groups: units work one after the other on memory itself, and report at once.
// A unit that learns late of something that happened within a window that is over, such as a workgroup that was launched, works
// on it in the next window at its own time. It is never further behind than a window. Wavefronts of a workgroup get their first
// state when their group works next, from the thread that it works on.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "models/common/host/shared_progress.h"
#include "models/common/host/worker_threads.h"
#include "models/common/time/units.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/isa/memory/deferred_access.h"
#include "models/isa/memory/store_buffer.h"

namespace lacuna {

class ComputeUnit;
struct ResidentWorkgroup;

/// What lies behind the groups' first-level caches.
class WindowEdge {
 public:
  virtual ~WindowEdge() = default;
  /// A group has worked up to `end`, on a thread of WorkerThreads; others may still be working. What it has asked for may be
  /// taken from it as far as that concerns nobody else.
  virtual void worked(unsigned group, unsigned thread, Tick end) = 0;
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
  /// wavefront's state stays in the host's caches. `threads`: what groups work on; null: the caller's thread.
  Windows(sc_core::sc_module_name name, Clock clock, TimingMode mode, Cycles length, WorkerThreads* threads = nullptr);

  /// Units that share first-level caches.
  void add_group(std::vector<ComputeUnit*> units);
  /// Null: everything is answered at once.
  void attach(WindowEdge* edge) { edge_ = edge; }
  Cycles length() const { return length_; }
  /// Windows until now.
  std::uint64_t count() const { return count_; }
  /// No unit asks for anything before it.
  Tick horizon() const { return horizon_; }
  /// Of the last window: how far units have worked.
  Cycles end() const { return end_; }

  /// As new, when all units are.
  void reset();
  /// A unit has something to do in cycle `at`.
  void wake(Cycles at);
  /// A unit of a group has a workgroup that starts in cycle `at`: ComputeUnit::start() comes in the next window.
  void launched(unsigned group, ComputeUnit& unit, ResidentWorkgroup& workgroup, Cycles at);
  /// Now, for all workgroups of the group that wait for it.
  void start_launched(unsigned group);
  /// A unit of a group, which works or learns answers, has something to report.
  void reported(unsigned group) { groups_[group]->has_reports = true; }

 private:
  struct Group {
    std::vector<ComputeUnit*> units;
    struct Working {
      ComputeUnit* unit;
      Cycles earliest;  ///< of the unit, which only its own work changes within a window
    };
    std::vector<Working> working;  ///< those that have something left to do in the window
    Cycles until{};                ///< how far they have worked
    SharedProgress progress;       ///< by parts of the window
    struct Launched {
      ComputeUnit* unit;
      ResidentWorkgroup* workgroup;
      Cycles at;
    };
    std::vector<Launched> launched;
    isa::StoreBuffer stores;
    std::uint32_t first_unit = 0;  ///< number of its first unit
    bool has_deferred = false;     ///< memory accesses of this window
    bool has_reports = false;
    bool active = false;  ///< a unit has workgroups, or something else to do
    bool booked = false;  ///< likewise, or had when bookings were dropped last
    Cycles earliest() const;
    bool idle() const;
  };
  /// Something of a unit that happens at an edge in its turn.
  struct Turn {
    Tick at;
    std::uint32_t unit;    ///< of units_
    std::uint32_t number;  ///< the unit's
    bool operator<(const Turn& other) const {
      if (at != other.at) return at < other.at;
      return unit != other.unit ? unit < other.unit : number < other.number;
    }
  };

  void run();
  void retire(Tick now);
  void share_work(Cycles begin);
  void work(unsigned number, unsigned thread, Cycles begin);
  void work_part(unsigned number, unsigned part, unsigned thread, Cycles begin);
  static void start_launched(Group& group);
  void begin_turns(Group& group, Cycles begin);
  void take_turns(Group& group, Cycles begin, Cycles end);
  void move_data();
  void deliver_reports();

  const Clock clock_;
  const bool timed_;
  const Cycles length_;
  WorkerThreads* threads_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<ComputeUnit*> units_;  // of all groups
  WindowEdge* edge_ = nullptr;
  isa::DeferredAccessPerformer performer_;
  std::vector<Turn> turns_;
  std::vector<unsigned> busy_;   // groups that have something to do in the window
  std::vector<unsigned> items_;  // of the threads' work: a group's number + groups x the last of the parts that it stands for
  Cycles end_{};                 ///< of the last window
  std::uint64_t count_ = 0;
  Tick next_retire_{};
  Tick horizon_{};
  sc_core::sc_event wake_;
};

}  // namespace lacuna
