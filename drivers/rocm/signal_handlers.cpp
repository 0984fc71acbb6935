#include "drivers/rocm/signal_handlers.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>

#include "models/common/host/blocked_signals.h"

namespace lacuna::rocm {

SignalHandlers::SignalHandlers(HostWaits& waits, SignalLoad* load) : waits_(waits), load_(load) {
  // The operating system must deliver signals to the program's own threads.
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
  waits_.give_way();
}

SignalHandlers::~SignalHandlers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  waits_.evaluate();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void SignalHandlers::add(const Handler& handler) {
  {
    const std::lock_guard lock(mutex_);
    handlers_.push_back(handler);
  }
  waits_.evaluate();
}

bool SignalHandlers::any_due() {
  const std::lock_guard lock(mutex_);
  return ending_ || std::any_of(handlers_.begin(), handlers_.end(), [this](const Handler& handler) {
           return holds(load_(handler.signal), handler.condition, handler.compare);
         });
}

void SignalHandlers::run() {
  pthread_setname_np(pthread_self(), "lacuna-handlers");
  for (;;) {
    while (!waits_.wait([this] { return any_due(); }, {})) {
    }
    std::unique_lock lock(mutex_);
    if (ending_) return;
    for (std::size_t i = 0; i < handlers_.size() && !ending_;) {
      const Handler handler = handlers_[i];
      const hsa_signal_value_t value = load_(handler.signal);
      if (!holds(value, handler.condition, handler.compare)) {
        ++i;
        continue;
      }
      // Unlocked because a handler may add handlers; only this thread removes handlers, so index `i` stays valid.
      lock.unlock();
      const bool again = handler.function(value, handler.argument);
      lock.lock();
      if (again) {
        ++i;
      } else {
        handlers_.erase(handlers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (ending_) return;
  }
}

}  // namespace lacuna::rocm
