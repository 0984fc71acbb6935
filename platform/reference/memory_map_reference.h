// Generates docs/reference/memory-map.md from include/lacuna/abi/memory_map.h and include/lacuna/abi/gpu_registers.h.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_memory_map_reference(std::ostream& out);

}  // namespace lacuna
