// Handlers of signals (hsa_amd_signal_async_handler): functions that are called when a signal meets a condition.
//
// One thread waits for all of them in HostWaits and calls them one after the other, in the order in which they were added.
#pragma once

#include <hsa/hsa_ext_amd.h>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/rocm/signal_waits.h"

namespace lacuna::rocm {

class SignalHandlers {
 public:
  struct Handler {
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare;
    hsa_amd_signal_handler function;
    void* argument;
  };

  /// Starts the thread, and returns when it waits. `waits` outlives the handlers.
  SignalHandlers(HostWaits& waits, SignalLoad* load);
  /// Returns when no handler is being called any more, unless a handler destroys them.
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

  /// `handler` is called when its condition holds, and again each time that it holds for as long as it returns true.
  void add(const Handler& handler);

 private:
  void run();
  bool any_due();

  HostWaits& waits_;
  SignalLoad* load_;
  std::mutex mutex_;  // taken by the condition of a wait: nothing of `waits_` may be called with it
  std::vector<Handler> handlers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace lacuna::rocm
