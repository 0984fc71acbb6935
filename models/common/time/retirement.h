// Retirement horizon: no model queries bookings before this time, so they may be dropped. All models use the same horizon.
#pragma once

#include "models/common/time/units.h"

namespace lacuna {

/// Initiators may lag the SystemC kernel by one window of the compute units (models/compute/windows.h), which is usually
/// shorter than this limit; requests that lag more are served as if they were made at the horizon.
inline constexpr Tick kMaxLag{256'000};

/// The retirement horizon at SystemC time `now`.
constexpr Tick retirement_horizon(Tick now) { return now < kMaxLag ? Tick{} : now - kMaxLag; }

}  // namespace lacuna
