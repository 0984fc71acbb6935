// Finds offload chains in a kernel's code (chain.h) and says of every other vector load why it is in none.
//
// A pure pass: from instructions and their control flow, without state of a simulation. Rules and their source: Pattnaik et
// al., "Opportunistic Computing in GPU Architectures", ISCA '19, sections 4.1 and 4.2; where the paper is silent:
//
// Chain      one or two loads of 1, 2 or 4 bytes a lane, none to two operations (chain_operations.h) on what they load and on
// one
//            uniform value (constant, literal or SGPR), and possibly a store. All in one basic block, under one EXEC mask. It
//            ends with a store, or with a comparison, or with an operation whose result stays in a register: then it has two
//            loads, because a single one's data would return anyway.
// No reuse   what a chain loads, and what it computes for its store, is read by nothing else: on no way through the kernel, in
// no
//            lane (models/isa/analysis/value_readers.h).
// Split      of v_mac, v_mad and other operations of two steps, when the third operand is in a VGPR: the first step is the
// chain's,
//            the second one remains at the core.
// Memory     no barrier, atomic operation or cache control inside a chain, and no store but those that cannot concern one of
// its
//            lines: stores to LDS or to private memory, or with the same address registers and at least a line away. That is
//            decided lane by lane; between different lanes the hardware has to look.
// Waits      a s_waitcnt inside of a chain is the chain's, unless an instruction in the chain's range needs it for something
//            that the chain has not loaded: then there is no chain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/neardata/chain.h"

namespace lacuna {

/// Why a load is in no chain.
enum class ChainRefusal : std::uint8_t {
  reused,         ///< the loaded register, or what is computed from it for a store, is read by something else
  fused,          ///< v_fma or v_fmac whose third operand is in a register: it cannot be split
  wide,           ///< more than 4 bytes a lane
  form,           ///< form of load: neither FLAT nor GLOBAL, glc, slc, tfe, d16, formats, to AGPRs
  operation,      ///< it is read by something that a packet cannot name: f64, packed, transcendental, DPP, an address
  exec,           ///< EXEC, M0 or MODE is written between load and use
  branch,         ///< it is read in another basic block
  alias,          ///< a store in between may concern a line of the chain; or a barrier, an atomic operation, cache control
  packet,         ///< does not fit the packet: modifiers, two uniform values, elements of different size, too many operands
  lds,            ///< its data go to LDS
  nothing_saved,  ///< its data would return to the core, or nothing reads them
  wait,           ///< a s_waitcnt in between is needed for something that the chain has not loaded
  interleaved,    ///< another chain lies across it (ChainOptions::interleaved = false)
  count
};
std::string_view refusal_name(ChainRefusal reason);

struct RefusedLoad {
  std::uint64_t address = 0;
  ChainRefusal reason = ChainRefusal::reused;
  std::uint64_t because = 0;  ///< address of the instruction that decides; the load's own if there is no other
  bool operator==(const RefusedLoad&) const = default;
};

/// Words to write over code at `address`.
struct CodePatch {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> words;
  bool operator==(const CodePatch&) const = default;
};

struct FinalizerOptions {
  /// Move address arithmetic in front of chains, so that their instructions are neighbours.
  bool move = true;
  /// With `move`: also where a load gets behind a wait that it stood in front of, as those of interleaved chains do. A core
  /// that computes the chains itself waits for one after the other then (SCP on mesh56 without offloading takes 25 % longer).
  bool take_apart = true;
  /// Tag chains that lie across each other, as compilers interleave the iterations of a loop. Each has its own number.
  bool interleaved = true;
  /// VGPRs that the kernel has, with what the allocation granule adds: those that no instruction names are free for `move`.
  unsigned vgprs = 0;
};

struct FinalizedKernel {
  /// Not empty: control flow is not fully known, nothing is tagged: "s_swappc_b64 at 0x1234".
  std::string unknown;
  std::uint64_t instructions = 0;
  std::uint64_t loads = 0;            ///< from vector memory: those in chains, and the refused ones
  std::vector<Chain> chains;          ///< ascending by first address
  std::vector<RefusedLoad> refusals;  ///< ascending
  std::vector<CodePatch> patches;     ///< ascending; chains and refusals are those of the code with them
  std::uint64_t moved = 0;            ///< instructions that the patches give another place or other registers
};

/// `fetch` gives the code; `entry` is the address of the kernel's first instruction.
FinalizedKernel finalize_kernel(const isa::FetchWords& fetch, isa::Target target, std::uint64_t entry,
                                const FinalizerOptions& options);

/// Instructions of the chain, from its first to its last, that are not its own: 0 for one that is contiguous.
unsigned foreign_instructions(const Chain& chain, const isa::FetchWords& fetch, isa::Target target);

/// "01"; "load a".
std::string_view tag_bits(ChainTag tag);
std::string_view role_name(ChainRole role);
/// "c = f(a, b)", as the paper's Table 1 has it; for pattern 0 what it consists of: "ld ld alu alu st".
std::string chain_name(const Chain& chain);

}  // namespace lacuna
