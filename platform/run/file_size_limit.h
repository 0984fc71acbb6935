// Writes beyond the process's file size limit (RLIMIT_FSIZE, `ulimit -f`): Linux sends SIGXFSZ, which silently ends a process
// that does not handle it. If the signal is blocked or ignored, the write fails with EFBIG and is reported like a full disk.
#pragma once

#include <csignal>

#include "models/common/host/blocked_signals.h"

namespace lacuna {

/// Blocks SIGXFSZ in the calling thread during the object's lifetime, for writes of the simulator in a process of the user.
/// Linux sends the signal to the thread that writes; a signal caused by a write in the meantime is discarded.
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

/// Ignores SIGXFSZ in the whole process, for programs of Lacuna.
void ignore_file_size_signal();
/// Restores the process's earlier handling of SIGXFSZ, before this process executes another program. Safe after vfork().
void restore_file_size_signal();

}  // namespace lacuna
