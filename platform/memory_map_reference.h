// docs/memory-map.md, generated from models/common/memory_map.h and models/common/gpu_registers.h.
#pragma once

#include <iosfwd>

namespace lacuna {

void write_memory_map_reference(std::ostream& out);

}  // namespace lacuna
