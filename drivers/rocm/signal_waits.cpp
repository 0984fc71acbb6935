#include "drivers/rocm/signal_waits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include "drivers/rocm/driver.h"

namespace lacuna::rocm {
namespace {

using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// Putting a thread to sleep and waking it takes longer than what is over within this time.
constexpr nanoseconds kPolls{20'000};
constexpr nanoseconds kShortestSleep{50'000};
/// Each time it wakes, a thread takes a processor from those that simulate; with more than 200 such losses a second, one thread
/// simulates alone (models/common/thread_contention.h).
constexpr nanoseconds kLongestSleep{20'000'000};

SignalLoad* load_signal = nullptr;
decltype(hsa_signal_wait_scacquire)* wait_of_runtime = nullptr;

bool holds(hsa_signal_value_t value, hsa_signal_condition_t condition, hsa_signal_value_t compare) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == compare;
    case HSA_SIGNAL_CONDITION_NE:
      return value != compare;
    case HSA_SIGNAL_CONDITION_LT:
      return value < compare;
    default:
      return value >= compare;
  }
}

hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                        std::uint64_t timeout, hsa_wait_state_t state) {
  Driver* driver = Driver::get();
  if (driver == nullptr) return wait_of_runtime(signal, condition, compare, timeout, state);
  return wait_asleep(driver->events(), load_signal, signal, condition, compare, timeout);
}

}  // namespace

hsa_signal_value_t wait_asleep(Events& events, SignalLoad* load, hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, std::uint64_t timeout) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    // Before the value: an event between the two ends the sleep at once.
    const std::uint64_t changes = events.changes();
    const hsa_signal_value_t value = load(signal);
    if (holds(value, condition, compare)) return value;
    const nanoseconds waited = Clock::now() - start;
    const auto so_far = static_cast<std::uint64_t>(waited.count());
    if (so_far >= timeout) return value;
    if (waited < kPolls) {
      std::this_thread::yield();
      continue;
    }
    const nanoseconds sleep = std::clamp(waited / 2, kShortestSleep, kLongestSleep);
    events.wait_for_change(changes, nanoseconds(std::min<std::uint64_t>(timeout - so_far, sleep.count())));
  }
}

void replace_waits(HsaApiTable& table) {
  if (table.version.major_id != HSA_API_TABLE_MAJOR_VERSION) return;
  CoreApiTable& core = *table.core_;
  if (core.version.major_id != HSA_CORE_API_TABLE_MAJOR_VERSION ||
      core.version.minor_id < offsetof(CoreApiTable, hsa_signal_wait_scacquire_fn) + sizeof(void*))
    return;
  if (core.hsa_signal_wait_scacquire_fn == wait) return;
  load_signal = core.hsa_signal_load_scacquire_fn;
  wait_of_runtime = core.hsa_signal_wait_scacquire_fn;
  core.hsa_signal_wait_scacquire_fn = wait;
  core.hsa_signal_wait_relaxed_fn = wait;
}

}  // namespace lacuna::rocm
