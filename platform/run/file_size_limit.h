// Writes beyond the process's file size limit (RLIMIT_FSIZE, `ulimit -f`): the kernel sends SIGXFSZ, which ends a process that
// does not handle it, silently. A write that is not interrupted fails with EFBIG, and is reported like one on a full disk.
#pragma once

#include <csignal>

#include "models/common/host/blocked_signals.h"

namespace lacuna {

/// Keeps SIGXFSZ from the calling thread while it lives, whatever the process does with the signal: for writes of ours in a
/// process that is not ours. The kernel sends the signal to the thread that writes; one that a write has caused meanwhile is
/// discarded.
class HeldFileSizeSignal {
 public:
  HeldFileSizeSignal();
  ~HeldFileSizeSignal();
  HeldFileSizeSignal(const HeldFileSizeSignal&) = delete;
  HeldFileSizeSignal& operator=(const HeldFileSizeSignal&) = delete;

 private:
  bool was_pending_;
  BlockedSignals blocked_;
};

/// For the whole process: a program of ours.
void ignore_file_size_signal();
/// What the process does with the signal is again what it did before: for a program that this process becomes or starts. Safe
/// after vfork().
void restore_file_size_signal();

}  // namespace lacuna
