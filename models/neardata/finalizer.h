// Finds offload chains in a kernel's code (chain.h), and the reason for each vector load that is in none.
//
// A pure pass: its inputs are instructions and their control flow, without state of a simulation. Rules and their source:
// Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19, sections 4.1 and 4.2; where the paper is silent:
//
// Chain      one or two loads of 1, 2 or 4 bytes per lane, zero to two operations (chain_operations.h) on their data and one
//            uniform value (constant, literal or SGPR), and possibly a store. All in one basic block, under one EXEC mask. It
//            ends with a store, a comparison, or an operation whose result remains in a register: the latter has two loads,
//            because the data of a single one would return anyway.
// No reuse   the data that a chain loads, and the value that it computes for its store, have no other reader: on no path
//            through the kernel, in no lane (models/isa/analysis/value_readers.h).
// Split      of v_mac, v_mad and other operations of two steps, if the third operand is in a VGPR: the first step belongs to
//            the chain, the second one remains at the core.
// Memory     no barrier, atomic operation or cache control inside a chain, and no store except those that cannot affect one
//            of its lines: stores to LDS or private memory, or with the same address registers and at least a line away. This
//            is decided per lane; conflicts between different lanes are checked by the hardware.
// Waits      a s_waitcnt inside a chain belongs to it, unless an instruction in the chain's range needs it for data that the
//            chain has not loaded: then there is no chain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/analysis/code_walk.h"
#include "models/neardata/chain.h"

namespace lacuna {

/// Reason why a load is in no chain.
enum class ChainRefusal : std::uint8_t {
  reused,         ///< the loaded register, or the value computed from it for a store, has another reader
  fused,          ///< v_fma or v_fmac whose third operand is in a register: it cannot be split
  wide,           ///< more than 4 bytes per lane
  form,           ///< form of the load: neither FLAT nor GLOBAL, glc, slc, tfe, d16, formats, to AGPRs
  operation,      ///< its reader is an operation that a packet cannot name: f64, packed, transcendental, DPP, an address
  exec,           ///< EXEC, M0 or MODE is written between load and use
  branch,         ///< its reader is in another basic block
  alias,          ///< a store in between may affect a line of the chain; or a barrier, an atomic operation, cache control
  packet,         ///< it does not fit the packet: modifiers, two uniform values, elements of different size, too many operands
  lds,            ///< its data are loaded to LDS
  nothing_saved,  ///< its data would return to the core, or have no reader
  wait,           ///< a s_waitcnt in between is needed for data that the chain has not loaded
  interleaved,    ///< its range overlaps with that of another chain (ChainOptions::interleaved = false)
  count
};
std::string_view refusal_name(ChainRefusal reason);

struct RefusedLoad {
  std::uint64_t address = 0;
  ChainRefusal reason = ChainRefusal::reused;
  std::uint64_t because = 0;  ///< address of the instruction that causes it; the load's own if there is no other
  bool operator==(const RefusedLoad&) const = default;
};

/// Words that replace the code at `address`.
struct CodePatch {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> words;
  bool operator==(const CodePatch&) const = default;
};

struct FinalizerOptions {
  /// Moves address arithmetic in front of chains, so that a chain's instructions are adjacent.
  bool move = true;
  /// With `move`: also if this moves a load after a wait that it preceded, as for the loads of interleaved chains. A core that
  /// performs the chains itself then waits for one after the other (SCP on mesh56 without offloading takes 25 % longer).
  bool take_apart = true;
  /// Tags chains whose ranges overlap, since compilers interleave the iterations of a loop. Each chain has a separate number.
  bool interleaved = true;
  /// VGPRs allocated to the kernel, including those added by the allocation granule: `move` may use those that no instruction
  /// names.
  unsigned vgprs = 0;
};

struct FinalizedKernel {
  /// Not empty: control flow is not fully known and nothing is tagged; the cause: "s_swappc_b64 at 0x1234".
  std::string unknown;
  std::uint64_t instructions = 0;
  std::uint64_t loads = 0;            ///< loads from vector memory: those in chains, and the refused ones
  std::vector<Chain> chains;          ///< ascending by first address
  std::vector<RefusedLoad> refusals;  ///< ascending
  std::vector<CodePatch> patches;     ///< ascending; chains and refusals are those of the patched code
  std::uint64_t moved = 0;            ///< instructions to which the patches give another position or other registers
};

/// `fetch` returns the code; `entry` is the address of the kernel's first instruction.
FinalizedKernel finalize_kernel(const isa::FetchWords& fetch, isa::Target target, std::uint64_t entry,
                                const FinalizerOptions& options);

/// Number of instructions in the chain's range that do not belong to it: 0 if it is contiguous.
unsigned foreign_instructions(const Chain& chain, const isa::FetchWords& fetch, isa::Target target);

/// Texts for reports: "01"; "load a".
std::string_view tag_bits(ChainTag tag);
std::string_view role_name(ChainRole role);
/// "c = f(a, b)", as in the paper's Table 1; for pattern 0 its components: "ld ld alu alu st".
std::string chain_name(const Chain& chain);

}  // namespace lacuna
