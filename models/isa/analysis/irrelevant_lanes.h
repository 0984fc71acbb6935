// Lanes in which an operand does not affect the result, because the other factor of the product, or the other operand of the
// AND, is zero. Used by models of machines that postpone loads and drop those whose data are not needed (LazyGPU, ISCA '25,
// section 4.3).
//
// The functions examine an instruction that is about to execute. The wavefront's registers already hold the data of loads that
// the modelled machine has not performed yet: the caller passes the lanes of these loads to irrelevant_lanes(), whose result
// does not depend on the values in them.
//
// A source is zero in a lane if all bits that the instruction reads are zero: the half that OP_SEL selects; for packed sources,
// all halves (for packed f32, registers) that either operation selects; for 64-bit sources, both words. The sign of a
// floating-point source is ignored, so NEG and ABS have no effect. Denormals are not treated as zero, even where MODE flushes
// them, nor are 24-bit operands of which only the upper byte is set: a zero detector examines whole registers. An SGPR or a
// constant is zero in all lanes or in none.
//
// No lanes are considered irrelevant:
//  - in SDWA and DPP forms, which read other lanes or bytes than they write
//  - while MODE enables VGPR indexing or VSKIP: the operands are not the registers that the instruction names
//  - in matrix instructions, which sum over lanes
//  - if another source, or the old destination, reads a register of the source (v_mac_f32 v1, v1, v2)
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// Treatment of zero times infinity or NaN, and of the sign of a zero product.
enum class OtimesIeee : std::uint8_t {
  strict,  ///< ZeroPair::exact only: an operand that is not loaded may be NaN, infinite or negative
  paper    ///< ZeroPair::ieee too: zero times anything is zero (section 4.3 does not mention NaN, infinity and signs)
};

/// For each source, one bit per lane.
using SourceLanes = std::array<std::uint64_t, kMaxSources>;

/// Whether the instruction has sources that a zero may make irrelevant. Costs only a few loads and tests, so it can be called
/// before each instruction.
inline bool has_irrelevant_sources(const Instruction& instruction) {
  return (instruction.row->flags & kZeroPairs) != 0 && !instruction.vop.sdwa && !instruction.vop.dpp;
}

/// The VGPR or AGPR sources that a zero in another source may make irrelevant in some lane: bit i for source i.
unsigned irrelevant_sources(const Instruction& instruction, OtimesIeee ieee);

/// Lanes in EXEC in which source `other` does not affect the result. `unavailable[i]`: lanes in which a register of source i
/// has not been loaded; they are not examined. `unavailable[other]` is ignored.
std::uint64_t irrelevant_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other,
                               const SourceLanes& unavailable, OtimesIeee ieee);

/// Returns the subset of `lanes` in which the destination would differ in some bit if `other` were +0, as in a machine that
/// never loads it, and everything else (other sources, the old destination, MODE) were unchanged. `lanes` must be the result of
/// irrelevant_lanes() for `other`. Differences are due to NaN or infinity, or to the sign of a zero. Always 0 for lanes that
/// OtimesIeee::strict allows.
///
/// Three cases are decided by inspection: an operand that is not NaN, infinite or negative changes no bit; nor does a negative
/// operand if the addend is neither zero nor denormal; without an addend, ABS, OMOD and CLAMP, a negative operand changes the
/// sign of the product. In all other cases the instruction is executed twice on copies. The wavefront and the host's
/// floating-point environment are not changed.
std::uint64_t differing_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other, std::uint64_t lanes);

}  // namespace lacuna::isa
