// The SystemC kernel's time as a Tick, and waiting for a Tick.
#pragma once

#include <systemc>

#include "models/common/time/tlm_time.h"

namespace lacuna {

inline Tick kernel_time() { return to_tick(sc_core::sc_time_stamp()); }

/// Only in an SC_THREAD: suspends it until `at`; for one delta cycle when `at` is the kernel's time or earlier.
inline void wait_for_time(Tick at) { sc_core::wait(to_sc_time(later(at, kernel_time()) - kernel_time())); }

}  // namespace lacuna
