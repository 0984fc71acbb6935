// docs/memory-map.md, generated from platform/memory_map.h and models/gpu/gpu_registers.h.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_memory_map_reference(std::ostream& out);

}  // namespace lacuna
