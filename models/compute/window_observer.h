// Notification of windows' ends (models/compute/windows.h).
#pragma once

namespace lacuna {

/// An object whose state changes only at the ends of windows, so that its state does not depend on the number of host threads.
class WindowObserver {
 public:
  virtual ~WindowObserver() = default;
  /// Called when all units have run up to the window's end and their stores are in memory; their requests have not been sent
  /// yet.
  virtual void window_ended() = 0;
};

}  // namespace lacuna
