// How threads of the program wait for signals: asleep.
//
// ROCm's runtime polls: HIP asks for it, and while one kernel runs, two threads do (seen with 5.2.3). A real GPU does not mind,
// a simulated one needs these processors. The runtime gives tools its table of functions (hsa_api_trace.h); the waits in it are
// replaced.
#pragma once

#include <hsa/hsa.h>
// Without it the header includes others from a folder inc that Debian's package does not have.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>
#include <cstdint>

#include "drivers/rocm/events.h"

namespace lacuna::rocm {

using SignalLoad = decltype(hsa_signal_load_scacquire);

/// As hsa_signal_wait_scacquire() has it: the signal's value when the condition holds, or when `timeout` (ns) is over. Sleeps
/// until any event is set; what changes a signal without an event is noticed after half of the time waited so far, at most
/// 20 ms.
hsa_signal_value_t wait_asleep(Events& events, SignalLoad* load, hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, std::uint64_t timeout);

/// Replaces the waits of a table that is laid out as ours; another one stays as it is.
void replace_waits(HsaApiTable& table);

}  // namespace lacuna::rocm
