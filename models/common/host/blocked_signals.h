// Signals that a thread does not receive for a while.
#pragma once

#include <pthread.h>
#include <csignal>

namespace lacuna {

/// Blocks signals of the calling thread while it lives. A thread that is started meanwhile keeps them blocked.
class BlockedSignals {
 public:
  /// Every signal.
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
