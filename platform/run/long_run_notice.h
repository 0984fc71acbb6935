// What `lacuna exec` says when a simulation takes long: one line, once. The program's output is its own, so that somebody who
// waits for it cannot see whether anything happens.
#pragma once

#include <iosfwd>

#include "platform/run/terminal.h"

namespace lacuna {

class LongRunNotice {
 public:
  /// `after`: seconds of host time spent on simulating; 0 = never. `timed`: whether the run has memory timing, so that doing
  /// without it would help.
  LongRunNotice(double after, bool timed, std::ostream& out) : after_(after), timed_(timed), out_(out) {}

  /// So many more seconds of host time have been spent. True when say() is to be called: once, and never again.
  bool due(double seconds);
  /// The snapshot is of now; speed is the mean since the start.
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
