// What a kernel takes of a compute unit, and how many of its wavefronts fit: the part of `lacuna isa check` that no instruction
// tells.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/isa/analysis/kernel_registers.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

/// How many wavefronts of a kernel a SIMD holds, on a compute unit of the target with four SIMDs and 64 KiB of LDS.
struct Occupancy {
  std::uint32_t workgroup_size = 0;  ///< that it holds for: the required one, else the largest that the kernel allows
  double wavefronts_per_simd = 0;    ///< 0: not even one workgroup fits; a fraction when fewer than four fit
  std::string_view limit;            ///< what ends it: "wavefront slots", "VGPRs", "SGPRs", "LDS"
};

/// `lds` in bytes a workgroup, static and dynamic.
Occupancy occupancy(const isa::KernelRegisters& registers, std::uint32_t lds, std::uint32_t workgroup_size, isa::Target target);

/// Allocated registers by the kernel's descriptor. Throws ElfError when it lies outside the segments.
isa::KernelRegisters kernel_registers(const CodeObject& object, const KernelEntry& entry);

/// Work-items of the required workgroup, else of the largest that the metadata allow, else what compilers take for granted.
std::uint32_t largest_workgroup(const KernelMetadata& kernel);

}  // namespace lacuna
