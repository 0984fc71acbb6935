// The notice of `lacuna exec` for long simulations: one line, once. The only output is the program's own, so the user could not
// otherwise see whether the simulation makes progress.
#pragma once

#include <iosfwd>

#include "platform/run/terminal.h"

namespace lacuna {

class LongRunNotice {
 public:
  /// `after`: seconds of host time spent on simulating; 0 = never. `timed`: whether the run has memory timing, in which case
  /// disabling it would help.
  LongRunNotice(double after, bool timed, std::ostream& out) : after_(after), timed_(timed), out_(out) {}

  /// Adds host time in seconds. Returns true if the notice is due and say() has not been called yet.
  bool due(double seconds);
  /// Writes the notice. `snapshot`: current state. The speed is the mean since the start.
  void say(const ProgressLine::Snapshot& snapshot);
  bool said() const { return said_; }

 private:
  double after_;
  bool timed_;
  std::ostream& out_;
  double spent_ = 0;
  bool said_ = false;
};

}  // namespace lacuna
