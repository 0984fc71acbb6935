// Makes threads of the program wait for signals in HostWaits, so that they sleep and are known to wait.
//
// ROCm's runtime polls signals: HIP requests it, and two threads poll while one kernel runs (observed with 5.2.3). With a real
// GPU this does no harm, but a simulated GPU needs the host's processors, and the driver cannot distinguish a thread that polls
// from one that computes. The runtime passes its table of functions to tools (hsa_api_trace.h). This tool replaces three kinds
// of functions: those that wait for signals; loads of signals and of queues' read indices, which become waits when repeated;
// and registration of signal handlers, for which the runtime has a polling thread.
#pragma once

#include <hsa/hsa.h>
// Without this definition hsa_api_trace.h includes headers from a folder inc, which Debian's package does not have.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>
#include <cstdint>

#include "drivers/rocm/host_waits.h"

namespace lacuna::rocm {

using SignalLoad = decltype(hsa_signal_load_scacquire);

/// As hsa_signal_wait_scacquire(): returns the signal's value when the condition holds or `timeout` (ns of simulated time) has
/// passed.
hsa_signal_value_t wait_asleep(HostWaits& waits, SignalLoad* load, hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, std::uint64_t timeout);

/// Whether `value` meets the condition.
bool holds(hsa_signal_value_t value, hsa_signal_condition_t condition, hsa_signal_value_t compare);

/// Replaces functions in the runtime's table. A table with a layout version unknown to this library is left unchanged.
void replace_waits(HsaApiTable& table);
/// Call when the runtime is about to end: no handler of a signal is called after it returns.
void end_signal_handlers();

}  // namespace lacuna::rocm
