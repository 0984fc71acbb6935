// Handlers of HSA signals (hsa_amd_signal_async_handler): functions that are called when a signal meets a condition.
//
// One thread waits in HostWaits for all signals and calls the handlers one after the other, in the order in which they were
// added.
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

  /// Starts the thread, and returns when the thread waits. `waits` outlives the handlers.
  SignalHandlers(HostWaits& waits, SignalLoad* load);
  /// Waits until no handler is running, unless a handler calls the destructor.
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

  /// Adds a handler: it is called whenever its condition holds, until it returns false.
  void add(const Handler& handler);

 private:
  void run();
  bool any_due();

  HostWaits& waits_;
  SignalLoad* load_;
  std::mutex mutex_;  // locked by a condition that `waits_` evaluates: never call `waits_` while holding it
  std::vector<Handler> handlers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace lacuna::rocm
