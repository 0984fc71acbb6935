// Windows of simulated time, in which all compute units of a GPU advance together.
//
// Within a window, the units of a group use only their own state, the first-level caches that they share, and memory as it was
// at the beginning of the window, updated by the group's own stores. Requests that leave the caches are collected; stores and
// atomic operations are deferred. At the end of the window, in this order,
//   1. stores are written to memory, group after group;
//   2. atomic operations, and accesses that have to follow them, are performed in order of simulated time, then of units, then
//      of issue;
//   3. requests are sent to the next level in order of simulated time, and responses return: tokens complete, translations
//      resolve;
//   4. reports of units are delivered in order of simulated time, then of units.
// A window is no longer than the shortest round trip of a request, so a group's work in a window does not depend on other
// groups' work in the same window. Therefore
//   - shared caches, network and DRAM are accessed in time order, independent of the host;
//   - a group's state stays in the host's caches while it runs;
//   - groups run concurrently on several host threads, and results are the same on any number of them, even where wavefronts
//     race for data.
// In functional mode, units run one after the other on memory itself and report immediately. A unit that receives an event of
// an earlier window, such as the launch of a workgroup, handles it in the next window at the unit's own time; a unit never lags
// by more than one window. The wavefronts of a launched workgroup receive their initial state when the unit's group runs next,
// on the thread that runs the group.
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

class DeferredWork;
class WindowedUnit;
struct ResidentWorkgroup;

/// The memory system below the groups' first-level caches at the end of a window.
class WindowBarrier {
 public:
  virtual ~WindowBarrier() = default;
  /// Called when a window begins. `far`: end of the next window, if that window begins immediately after the current window.
  virtual void begin(Tick far) { static_cast<void>(far); }
  /// Called on a thread of WorkerThreads when a group has run up to `end`; other groups may still be running. Only the group's
  /// requests may be accessed.
  virtual void group_finished(unsigned group, unsigned thread, Tick end) = 0;
  /// Called when all groups have run up to `end`: serves their requests made before `end` and delivers the responses.
  virtual void resolve(Tick end) = 0;
  /// Earliest time at which a pending request needs the next call of resolve(); kNever: there is none.
  virtual Tick next() const = 0;
  /// Drops bookings before `horizon`: no later call makes a request for a time before `horizon`.
  virtual void retire(Tick horizon) = 0;
};

class WindowEndListener {
 public:
  virtual ~WindowEndListener() = default;
  /// Called when a window is complete: all responses and reports until its end have been delivered. May change units' state.
  virtual void window_complete(Cycles end) = 0;
};

class Windows : public sc_core::sc_module {
 public:
  /// `length`: cycles of a window, at least 1. Functional mode uses longer windows, so that a wavefront's state stays in the
  /// host's caches. `threads`: threads that run the groups; null: the caller's thread runs them.
  Windows(sc_core::sc_module_name name, Clock clock, TimingMode mode, Cycles length, WorkerThreads* threads = nullptr);

  /// Adds a group: units that share first-level caches.
  void add_group(std::vector<WindowedUnit*> units);
  /// Attaches the barrier that serves requests; null: memories respond immediately.
  void attach(WindowBarrier* barrier) { barrier_ = barrier; }
  Cycles length() const { return length_; }
  /// Number of windows so far.
  std::uint64_t count() const { return count_; }
  /// Lower bound of the times of all later requests.
  Tick horizon() const { return horizon_; }
  /// End of the last window, up to which units have run.
  Cycles end() const { return end_; }

  /// Cancels the next window and returns to time 0. Units are reset separately.
  void reset();
  /// Requests a window that includes cycle `at`.
  void wake(Cycles at);
  /// Announces that a unit of a group has received a workgroup that starts in cycle `at`. WindowedUnit::start() is called in
  /// the next window.
  void launched(unsigned group, WindowedUnit& unit, ResidentWorkgroup& workgroup, Cycles at);
  /// Sets the object that is called at the end of each window; null: none.
  void set_end_listener(WindowEndListener* listener) { end_listener_ = listener; }
  /// Delivers the reports that units have made outside of a window.
  void deliver_reports() { perform(reports_); }
  /// Requests windows for a group whose units have been run outside of windows and have work left.
  void resume(unsigned group);
  /// Calls WindowedUnit::start() now for all pending workgroups of the group.
  void start_launched(unsigned group);

 private:
  struct Group {
    std::vector<WindowedUnit*> units;
    struct Working {
      WindowedUnit* unit;
      Cycles earliest;  ///< WindowedUnit::earliest(), which only run() changes within a window
    };
    std::vector<Working> working;  ///< units with work left in the window
    Cycles until{};                ///< the group has run up to this cycle
    SharedProgress progress;       ///< parts of the window that are done
    struct Launched {
      WindowedUnit* unit;
      ResidentWorkgroup* workgroup;
      Cycles at;
    };
    std::vector<Launched> launched;
    isa::StoreBuffer stores;
    std::uint32_t first_unit = 0;  ///< number of the group's first unit in units_
    bool has_accesses = false;     ///< whether memory accesses have been deferred in this window
    bool has_reports = false;      ///< whether reports have been made since the last delivery of reports
    bool active = false;           ///< whether a unit has workgroups or other work
    bool booked = false;           ///< whether the group is active, or has been since bookings were last dropped
    Cycles earliest() const;
    bool idle() const;
  };
  /// Deferred work of all units of one kind: memory accesses, or reports.
  struct WorkKind {
    std::vector<DeferredWork*> of_unit;  ///< indexed like units_
    bool Group::*pending;
  };
  /// An item of deferred work, in the order in which items are performed at the end of a window.
  struct Turn {
    Tick at;
    std::uint32_t unit;    ///< index in units_
    std::uint32_t number;  ///< number among the unit's items
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
  void perform(WorkKind& kind);

  const Clock clock_;
  const bool timed_;
  const Cycles length_;
  WorkerThreads* threads_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<WindowedUnit*> units_;  // units of all groups
  WorkKind accesses_{{}, &Group::has_accesses};
  WorkKind reports_{{}, &Group::has_reports};
  WindowBarrier* barrier_ = nullptr;
  WindowEndListener* end_listener_ = nullptr;
  isa::DeferredAccessPerformer performer_;
  std::vector<Turn> turns_;
  std::vector<unsigned> busy_;   // groups with work in the window
  std::vector<unsigned> items_;  // work items for threads: number of the group + number of groups x last part to run
  Cycles end_{};                 ///< end of the last window
  std::uint64_t count_ = 0;
  Tick next_retire_{};
  Tick horizon_{};
  sc_core::sc_event wake_;
};

}  // namespace lacuna
