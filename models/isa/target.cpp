#include "models/isa/target.h"

#include <array>

namespace lacuna::isa {
namespace {

// EF_AMDGPU_MACH_* and the allocation granules: LLVM, "User Guide for AMDGPU Backend" (Table "AMDGPU ELF Header e_flags",
// and GRANULATED_WAVEFRONT_*_COUNT of the kernel descriptor).
constexpr std::array<TargetTraits, kTargets> kTraits{{
    {.name = "gfx803",
     .elf_machine_flags = 0x02a,
     .vgpr_granule = 4,
     .sgpr_granule = 16,
     .max_vgprs = 256,
     .addressable_sgprs = 102,
     .first_ttmp = 112,
     .has_agprs = false,
     .packed_work_item_ids = false,
     .architected_flat_scratch = false,
     .vmcnt_bits = 4},
    {.name = "gfx90a",
     .elf_machine_flags = 0x03f,
     .vgpr_granule = 8,
     .sgpr_granule = 16,
     .max_vgprs = 512,
     .addressable_sgprs = 102,
     .first_ttmp = 108,
     .has_agprs = true,
     .packed_work_item_ids = true,
     .architected_flat_scratch = false,
     .vmcnt_bits = 6},
}};

}  // namespace

const TargetTraits& traits(Target target) { return kTraits[static_cast<unsigned>(target)]; }

}  // namespace lacuna::isa
