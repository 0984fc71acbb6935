// Reorders a basic block such that the instructions of each chain are adjacent.
//
// Instructions between those of a chain move in front of the chain, or behind the chain if they depend on it. Both groups keep
// their order. Two obstacles are removed: a register that still holds an earlier value is renamed to an unused register of the
// kernel (chain_renaming.h), and the counts of s_waitcnt are recomputed. A wait stays behind all operations that it waits for
// and before all instructions that need it, and no memory access moves in front of a wait that it followed. The new count is
// the number of operations issued since the last operation that the wait covers. The block ends with the same outstanding
// operations, in the same order.
//
// Not changed: the order of stores and loads, regardless of their addresses; blocks with a wait that covers only some of the
// operations issued before the block; ranges with an instruction that no other instruction may cross, such as a barrier, or
// s_nop, which provides wait states between its neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "models/neardata/chain_finder.h"
#include "models/neardata/finalizer.h"

namespace lacuna {

struct MovedCode {
  std::vector<CodePatch> patches;  ///< one for each changed block, ascending by address
};

/// Makes the candidates `chains` of `flow` contiguous where possible; some may be contiguous already.
MovedCode move_chains(const isa::ControlFlow& flow, const ChainFinder& chains, isa::Target target,
                      const FinalizerOptions& options);

}  // namespace lacuna
