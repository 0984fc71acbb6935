// Resources of a compute unit that a kernel uses, and the number of its wavefronts that fit: the part of `lacuna isa check`
// that does not depend on the kernel's instructions.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/isa/analysis/kernel_registers.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

/// Number of wavefronts of a kernel that fit into a SIMD of a compute unit with four SIMDs and 64 KiB of LDS.
struct Occupancy {
  /// Workgroup size for which occupancy is computed: the required size, else the largest size that the kernel allows.
  std::uint32_t workgroup_size = 0;
  double wavefronts_per_simd = 0;  ///< mean over the SIMDs, possibly a fraction; 0: not even one workgroup fits
  std::string_view limit;          ///< limiting resource: "wavefront slots", "VGPRs", "SGPRs", "LDS"
};

/// `lds`: bytes per workgroup, static and dynamic.
Occupancy occupancy(const isa::KernelRegisters& registers, std::uint32_t lds, std::uint32_t workgroup_size, isa::Target target);

/// Allocated registers according to the kernel's descriptor. Throws ElfError if the descriptor is outside of the segments.
isa::KernelRegisters kernel_registers(const CodeObject& object, const KernelEntry& entry);

/// Work-items of a workgroup: the required number, else the maximum in the metadata, else the compilers' default.
std::uint32_t largest_workgroup(const KernelMetadata& kernel);

}  // namespace lacuna
