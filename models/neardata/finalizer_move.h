// Reorders a block such that the instructions of a chain are adjacent.
//
// Instructions between those of a chain move in front of it if they do not depend on it, otherwise behind it; each part keeps
// its order. Two obstacles are removed: a register that another value uses before is renamed to one that the kernel has and no
// instruction uses (chain_renaming.h), and s_waitcnt gets another count. A wait stays behind all operations that it waits for
// and before all instructions that need it, and no memory access moves in front of a wait that it followed; the count is that
// of operations issued since. The operations outstanding at the end of the block are the same, in the same order.
//
// Not changed: the order of stores and loads, regardless of their addresses; blocks with waits for only a part of the
// operations issued before the block; ranges with s_nop, because it provides wait states between its neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "models/neardata/chain_finder.h"
#include "models/neardata/finalizer.h"

namespace lacuna {

struct MovedCode {
  std::vector<CodePatch> patches;  ///< one for each changed block, ascending
};

/// `chains` are candidates in `flow`; some may already be contiguous.
MovedCode move_chains(const isa::ControlFlow& flow, const ChainFinder& chains, isa::Target target,
                      const FinalizerOptions& options);

}  // namespace lacuna
