// Notification of windows' ends (models/compute/windows.h).
#pragma once

namespace lacuna {

/// Something whose state changes at the ends of windows alone, so that it does not depend on the number of threads.
class WindowObserver {
 public:
  virtual ~WindowObserver() = default;
  /// All units have worked up to the window's end and their stores are in memory; their requests have not been sent yet.
  virtual void window_ended() = 0;
};

}  // namespace lacuna
