// Area of the accelerator from what is published of its parts, beside the thesis' own numbers (section 4.6.7: 348 mm2, of which
// the buffer has 200; synthesis at 45 nm, scaled to Samsung's 8N).
//
// Buffer: cells of Samsung's 10 nm, whose dimensions 8N has, in the share of an area that cells have in a large SRAM of a
// product. PEs: the thesis' own 64-bit matrix unit (Table 3.5 (c)), of which a multiply-add is one PE, scaled as its
// section 3.6.1 scales. Networks between PEs, loaders and control are not known.
#pragma once

#include <cstdint>
#include <vector>

#include "models/energy/hardware_cost.h"

namespace lacuna::sida {

/// Published, section 4.6.7.
inline constexpr double kPublishedMm2 = 348;
inline constexpr double kPublishedBufferMm2 = 200;

/// `pes`: of each of the three cores.
double buffer_mm2(std::uint64_t bytes);
double pes_mm2(unsigned pes, bool all_semirings);

/// Lines for output and documentation.
std::vector<CostLine> area_lines(unsigned pes, std::uint64_t buffer_bytes);

}  // namespace lacuna::sida
