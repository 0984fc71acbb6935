// Registers of a wavefront as requested by its kernel descriptor.
//
// Source: LLVM "User Guide for AMDGPU Backend", COMPUTE_PGM_RSRC1 (GRANULATED_WORKITEM_VGPR_COUNT,
// GRANULATED_WAVEFRONT_SGPR_COUNT) and COMPUTE_PGM_RSRC3 of gfx90a (ACCUM_OFFSET).
#pragma once

#include <cstdint>

#include "models/isa/target.h"

namespace lacuna::isa {

/// Register counts, rounded up to the target's allocation granules.
struct KernelRegisters {
  unsigned vgprs = 0;  ///< per lane
  unsigned agprs = 0;  ///< per lane, after the VGPRs in the same file
  unsigned sgprs = 0;
};

KernelRegisters kernel_registers(std::uint32_t rsrc1, std::uint32_t rsrc3, Target target);

}  // namespace lacuna::isa
