// Random programs. A seed gives the same program on every host.
#pragma once

#include <cstdint>

#include "program.h"

namespace lacuna::programs {

[[nodiscard]] Program generate_program(std::uint64_t seed);

}  // namespace lacuna::programs
