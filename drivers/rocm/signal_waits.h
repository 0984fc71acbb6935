// How threads of the program wait for signals: in HostWaits, so that they sleep and are known to wait.
//
// ROCm's runtime polls: HIP asks for it, and while one kernel runs, two threads do (seen with 5.2.3). A real GPU does not mind;
// a simulated one needs these processors, and cannot tell a thread that polls from one that computes. The runtime gives tools
// its table of functions (hsa_api_trace.h). In it are replaced: waits, loads of signals and of queues' read indices that are
// repeated, and handlers of signals, for which the runtime has a thread that polls.
#pragma once

#include <hsa/hsa.h>
// Without it the header includes others from a folder inc that Debian's package does not have.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>
#include <cstdint>

#include "drivers/rocm/host_waits.h"

namespace lacuna::rocm {

using SignalLoad = decltype(hsa_signal_load_scacquire);

/// As hsa_signal_wait_scacquire() has it: the signal's value when the condition holds, or when `timeout` (ns of simulated time)
/// is over.
hsa_signal_value_t wait_asleep(HostWaits& waits, SignalLoad* load, hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, std::uint64_t timeout);

/// Whether `value` meets the condition.
bool holds(hsa_signal_value_t value, hsa_signal_condition_t condition, hsa_signal_value_t compare);

/// Replaces functions of a table that is laid out as ours; another one stays as it is.
void replace_waits(HsaApiTable& table);
/// The runtime is about to end: handlers of signals are not called any more.
void end_signal_handlers();

}  // namespace lacuna::rocm
