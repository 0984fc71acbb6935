// Which bookings of a calendar can still be asked for: the one rule by which models forget.
#pragma once

#include "models/common/time/units.h"

namespace lacuna {

/// Initiators may be behind the kernel's time by a window of the compute units (models/compute/windows.h), which is
/// mostly shorter than this; what comes from further behind is served as if it came from here.
inline constexpr Tick kFurthestBehind{256'000};

/// No later request comes for a time before this.
constexpr Tick retirement_horizon(Tick now) { return now < kFurthestBehind ? Tick{} : now - kFurthestBehind; }

}  // namespace lacuna
