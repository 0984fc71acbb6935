// Register state of a wavefront when it starts (LLVM "User Guide for AMDGPU Backend", sections Initial Kernel Execution State
// and Kernel Descriptor): user SGPRs in the order the descriptor enables them, system SGPRs after them, work-item ids in VGPRs.
#pragma once

#include <array>
#include <cstdint>

#include "models/compute/dispatch.h"
#include "models/isa/wavefront.h"

namespace lacuna {

/// Position of a wavefront in its grid.
struct WavefrontPlace {
  std::array<std::uint32_t, 3> workgroup{};
  unsigned wave_in_group = 0;
  std::uint32_t scratch_slot = 0;
};

/// Work-items of a workgroup in each dimension: fewer at the ends of a grid that the workgroup size does not divide.
std::array<std::uint32_t, 3> workgroup_extent(const Dispatch& dispatch, const std::array<std::uint32_t, 3>& workgroup);

/// Fills SGPRs, VGPRs with work-item ids, EXEC, MODE and PC. `wave.vgpr`, `target` and counts are already set.
void set_initial_state(isa::Wavefront& wave, const Dispatch& dispatch, const WavefrontPlace& place);

/// Reason why a kernel descriptor cannot be run: registers over the target's limits, more user SGPRs enabled than declared,
/// ...; empty if it can be run.
std::string check_descriptor(const hsa::KernelDescriptor& descriptor, isa::Target target);

/// Registers per wavefront that the descriptor requests, in allocation granules of the target.
WorkgroupNeeds register_needs(const hsa::KernelDescriptor& descriptor, isa::Target target);

}  // namespace lacuna
