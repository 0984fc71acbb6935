// The research machines that a device can have. A new machine adds its parameters to all_extensions().
#pragma once

#include "models/gpu/device_extension.h"

namespace lacuna {

/// Parameter sets of all research machines, with default values, which turn all of them off.
ExtensionSet all_extensions();

}  // namespace lacuna
