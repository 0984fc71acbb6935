// Writes beyond the process's file size limit (RLIMIT_FSIZE, `ulimit -f`): the kernel sends SIGXFSZ, which ends a process that
// does not handle it, silently. A write that is not interrupted fails with EFBIG, and is reported like one on a full disk.
#pragma once

#include <csignal>

#include "models/common/host/blocked_signals.h"

namespace lacuna {

/// Blocks SIGXFSZ in the calling thread during its lifetime, whatever the process does with the signal: for writes of the
/// simulator in a process of the user. The kernel sends the signal to the thread that writes; a signal caused by a write in the
/// meantime is discarded.
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

/// Ignores the signal in the whole process, for programs of Lacuna.
void ignore_file_size_signal();
/// Restores the process's earlier handling of the signal, for a program that this process becomes or starts. Safe after
/// vfork().
void restore_file_size_signal();

}  // namespace lacuna
