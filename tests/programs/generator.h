// Random programs. A seed gives the same program on every host.
#pragma once

#include <cstdint>

#include "program.h"

namespace lacuna::programs {

/// `matrix`: with tiles of the matrix unit's extensions, for gfx90a. Without it a seed's program does not depend on these.
[[nodiscard]] Program generate_program(std::uint64_t seed, bool matrix = false);

}  // namespace lacuna::programs
