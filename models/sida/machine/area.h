// Area of the accelerator derived from published data of its parts, for comparison with the thesis' numbers (section 4.6.7: 348
// mm2, of which the buffer takes 200 mm2; synthesis at 45 nm, scaled to Samsung's 8N).
//
// Buffer: cells of Samsung's 10 nm, which have the dimensions of 8N, divided by the area share of cells in a large production
// SRAM. PEs: multiply-adds of the thesis' 64-bit matrix unit (Table 3.5 (c)), scaled as in its section 3.6.1. Networks between
// PEs, loaders and control are unknown and not included.
#pragma once

#include <cstdint>
#include <vector>

#include "models/energy/hardware_cost.h"

namespace lacuna::sida {

/// Published total area in mm2 (thesis, section 4.6.7).
inline constexpr double kPublishedMm2 = 348;
inline constexpr double kPublishedBufferMm2 = 200;

/// Area of a buffer of `bytes` bytes, in mm2.
double buffer_mm2(std::uint64_t bytes);
/// Area of the PEs of all three cores, in mm2. `pes`: number of PEs of each core.
double pes_mm2(unsigned pes, bool all_semirings);

/// Table of areas for output and documentation: the buffer, and the PEs without and with the operators of all semirings.
/// `pes`: number of PEs of each of the three cores.
std::vector<CostLine> area_lines(unsigned pes, std::uint64_t buffer_bytes);

}  // namespace lacuna::sida
