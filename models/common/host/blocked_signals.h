// Temporary blocking of a thread's signals.
#pragma once

#include <pthread.h>
#include <csignal>

namespace lacuna {

/// Blocks signals of the calling thread during the object's lifetime. Threads that the calling thread starts during this time
/// inherit the blocked signals.
class BlockedSignals {
 public:
  /// Blocks all signals.
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    block(all);
  }
  explicit BlockedSignals(const sigset_t& signals) { block(signals); }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  void block(const sigset_t& signals) { pthread_sigmask(SIG_BLOCK, &signals, &before_); }

  sigset_t before_{};
};

}  // namespace lacuna
