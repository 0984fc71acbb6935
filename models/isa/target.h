// The instruction-set generations that Lacuna executes, and their differences other than rows of the instruction table.
#pragma once

#include <cstdint>
#include <string_view>

namespace lacuna::isa {

/// Lanes of a wavefront on both targets (wave64).
inline constexpr unsigned kLanes = 64;

enum class Target : std::uint8_t { gfx803, gfx90a };
inline constexpr unsigned kTargets = 2;

/// Properties of a target other than table rows. One constant object per target.
struct TargetTraits {
  std::string_view name;            ///< name in the code object's target id, e.g. "gfx803"
  std::uint32_t elf_machine_flags;  ///< EF_AMDGPU_MACH value in e_flags
  unsigned vgpr_granule;            ///< VGPRs are allocated in multiples of this (per lane)
  unsigned sgpr_granule;
  unsigned max_vgprs;             ///< VGPRs that a wavefront can allocate, AGPRs included
  unsigned addressable_sgprs;     ///< 102 on both; VCC, FLAT_SCRATCH, XNACK_MASK lie above
  unsigned first_ttmp;            ///< operand encoding of ttmp0: lower on gfx9, which has four ttmps in place of TBA and TMA
  bool has_agprs;                 ///< accumulation VGPRs, unified file (gfx90a)
  bool packed_work_item_ids;      ///< v0 holds x | y << 10 | z << 20 (gfx90a)
  bool architected_flat_scratch;  ///< false on both: FLAT_SCRATCH is set up by the kernel prologue
  unsigned vmcnt_bits;            ///< width of the vmcnt counter: 4 on gfx8, 6 from gfx9
};

const TargetTraits& traits(Target target);

}  // namespace lacuna::isa
