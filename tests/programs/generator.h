// Random programs. A seed gives the same program on every host.
#pragma once

#include <cstdint>

#include "program.h"

namespace lacuna::programs {

/// `matrix`: the program may use tiles of the matrix unit's extensions, for gfx90a only. Without `matrix`, the program of a
/// seed does not depend on which tiles exist.
[[nodiscard]] Program generate_program(std::uint64_t seed, bool matrix = false);

}  // namespace lacuna::programs
