// The research machines that a device can have. A new machine adds its parameters here.
#pragma once

#include "models/gpu/device_extension.h"

namespace lacuna {

/// Parameters of all machines with their defaults, all off.
ExtensionSet all_extensions();

}  // namespace lacuna
