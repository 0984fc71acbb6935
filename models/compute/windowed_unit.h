// A unit that advances in windows of simulated time (models/compute/windows.h).
#pragma once

#include "models/common/time/units.h"
#include "models/compute/issue/issue_state.h"

namespace lacuna {

namespace isa {
class DeferredAccessPerformer;
class StoreBuffer;
}  // namespace isa
class DeferredWork;
class Windows;
struct ResidentWorkgroup;

/// The group that a unit belongs to. All referenced objects outlive the unit's last window.
struct WindowGroup {
  unsigned number = 0;
  isa::StoreBuffer* stores = nullptr;  ///< keeps the unit's stores until the end of the window; null: stores are immediate
  isa::DeferredAccessPerformer* performer = nullptr;
};

/// Within a window, member functions are called on the thread that runs the unit's group; between windows, on the SystemC
/// kernel's thread.
class WindowedUnit {
 public:
  virtual ~WindowedUnit() = default;

  /// Called once, before the first window.
  virtual void attach(Windows& windows, const WindowGroup& group) = 0;
  /// Sets the initial state of the wavefronts of a launched workgroup: they may issue from cycle `at` on.
  virtual void start(ResidentWorkgroup& workgroup, Cycles at) = 0;
  /// Runs all cycles before `limit`, or until an input is required whose time is not known yet.
  virtual void run(Cycles limit) = 0;
  /// Lower bound of the cycle in which a wavefront can issue; kNeverCycles: none can until an external event.
  virtual Cycles earliest() const = 0;
  /// Whether no workgroup is resident.
  virtual bool idle() const = 0;
  /// Drops bookings before Windows::horizon().
  virtual void retire() = 0;
  /// Announces that run() up to `limit` will be called soon: a unit with large state may prefetch its state to the host's
  /// caches. Does not affect simulated results.
  virtual void announce(Cycles limit) const { static_cast<void>(limit); }

  /// Memory accesses of the window that are performed at its end.
  virtual DeferredWork& accesses() = 0;
  /// Reports of the window, which are delivered at its end.
  virtual DeferredWork& reports() = 0;
};

}  // namespace lacuna
