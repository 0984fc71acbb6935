// Another order of a block's instructions, in which those of a chain are neighbours.
//
// What stands between a chain's instructions and does not depend on them goes in front of it, the rest behind it, each part in
// its order. Two things in the way are removed: a register that is used for something else before gets another name, of those
// that the kernel has and no instruction uses (chain_renaming.h), and s_waitcnt gets another count. A wait stays behind all
// that it has waited for and before all that needs it, and no memory access gets in front of a wait that it stood behind; its
// count says what has been issued since. What is outstanding at the end of the block is the same, in the same order.
//
// Kept as they are: stores and loads in their order, whatever their addresses; blocks with waits for a part of what was issued
// before the block; ranges with s_nop, because it stands for wait states between its neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "models/neardata/chain_finder.h"
#include "models/neardata/finalizer.h"

namespace lacuna {

struct MovedCode {
  std::vector<CodePatch> patches;  ///< one for each block that has changed, ascending
};

/// `chains` are candidates in `flow`; some may be contiguous already.
MovedCode move_chains(const isa::ControlFlow& flow, const ChainFinder& chains, isa::Target target,
                      const FinalizerOptions& options);

}  // namespace lacuna
