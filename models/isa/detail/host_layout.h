// Layout of ISA state in the host's memory, without effect on simulated results. Included by models/isa only.
//
// Performance notes
//   - Wavefronts execute in turn, and few of a wavefront's cache lines stay in the host's caches. The members that every
//     instruction accesses therefore share a line with EXEC; MemoryWindow and PrivateSegment are placed so that
//     they add no padding.
//   - Wavefront::lane_mask() returns one array for all wavefronts while EXEC has all lanes (kEveryLane), which stays in the
//     host's caches, and expands EXEC only when it has changed.
//   - RegisterSet and RegisterMasks have a fold in addition to their bits: a word in which several registers share a bit. If
//     two folds have no bit in common, as in most cases, the sets are disjoint and nothing else is read. The fold of
//     vector registers is exact for wavefronts with at most 64 VGPRs and no AGPRs.
//   - A DecodedInstruction begins a cache line, and its masks follow the instruction: callers without a scoreboard do not
//     load them. It holds a pointer to its successor, so that straight-line code needs no lookup (DecodedCode::after()).
//   - Allocation::holds() compares the counts of three register files in one subtraction. The subtrahend also
//     contains the profile, which has no effect on the result, so that the host loads all four fields together.
//   - Executors process rows of lanes as wide as the host's vector registers; the headers of models/isa/vector, memory and
//     matrix explain locally why a function is inlined or not.
#pragma once

#include <cstddef>

#include "models/isa/analysis/register_masks.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

static_assert(offsetof(Wavefront, event_value) / 64 == (offsetof(Wavefront, sgpr) + kExecLo * 4) / 64 &&
              alignof(Wavefront) == 64);
static_assert(alignof(DecodedInstruction) == 64);

}  // namespace lacuna::isa
