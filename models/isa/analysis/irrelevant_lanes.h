// Lanes in which an operand makes no difference, because what it is multiplied by, or ANDed with, is zero there: for machines
// that postpone loads and drop those whose data are not needed (LazyGPU, ISCA '25, section 4.3).
//
// Asked of an instruction that is about to execute. The registers of the wavefront hold the values that the program computes
// with, those of loads that the machine has not performed yet among them: the caller says which lanes the machine does not
// know, and their values are not used to decide anything.
//
// A lane of a source is zero when the bits that the instruction reads of it are: the half that OP_SEL chooses, of packed
// sources all halves (or registers, of packed f32) that either operation chooses, of 64-bit sources both words, of floating
// point without the sign, so that NEG and ABS make no difference. Denormals are not zero, also where MODE flushes them. Nor are
// 24-bit operands whose upper byte alone is set: a detector of zeros looks at registers. An SGPR or a constant is zero in all
// lanes or in none.
//
// None are irrelevant:
//  - to SDWA and DPP forms, whose lanes or bytes come from other places than those of the destination
//  - while MODE switches VGPR indexing or VSKIP on: operands are not the registers that the instruction names
//  - to matrix instructions, which sum over lanes
//  - when a register of the source is read by another source, too, or as the old destination (v_mac_f32 v1, v1, v2)
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// Treatment of zero times infinity or NaN, and of the sign of a zero product.
enum class OtimesIeee : std::uint8_t {
  strict,  ///< ZeroPair::exact only: without the operand it is unknown whether it is NaN, infinite or negative
  paper    ///< ZeroPair::ieee too: zero times anything is zero (section 4.3 does not mention NaN, infinity and signs)
};

/// By source: one bit per lane.
using SourceLanes = std::array<std::uint64_t, kMaxSources>;

/// Whether the instruction has sources that a zero may make irrelevant: a load and two tests, cheap enough to be called before
/// each instruction.
inline bool has_irrelevant_sources(const Instruction& instruction) {
  return (instruction.row->flags & kZeroPairs) != 0 && !instruction.vop.sdwa && !instruction.vop.dpp;
}

/// The VGPR or AGPR sources that a zero in another source may make irrelevant in some lane: bit i for source i.
unsigned irrelevant_sources(const Instruction& instruction, OtimesIeee ieee);

/// Lanes in EXEC in which source `other` makes no difference. Lanes in `unavailable[i]` of source i, in which at least one of
/// its registers is not loaded, are not examined; `unavailable[other]` itself has no influence.
std::uint64_t irrelevant_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other,
                               const SourceLanes& unavailable, OtimesIeee ieee);

/// Subset of `lanes`, which irrelevant_lanes() has just returned for `other`, whose destination would differ in some bit if
/// `other` were +0, as in a machine that never loads it. Everything else is unchanged: other sources, the old destination,
/// MODE. Differences are due to NaN or infinity, or to the sign of a zero. Always 0 for lanes that OtimesIeee::strict allows.
///
/// If the operand is neither NaN nor infinite nor negative, or is negative but added to something other than zero, nothing
/// differs; if it is negative and nothing is added, the product's sign does. These cases are decided by inspection. Otherwise
/// the instruction is executed twice on copies. The wavefront and the host's floating-point environment are not changed.
std::uint64_t differing_lanes(const Instruction& instruction, const Wavefront& wave, unsigned other, std::uint64_t lanes);

}  // namespace lacuna::isa
