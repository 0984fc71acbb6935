// Finds offload chains (chain.h) in a kernel's code, and the reason why each of the remaining vector loads is in no chain.
//
// A pure pass: the result depends only on instructions and their control flow, not on the state of a simulation. The rules are
// those of Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA '19, sections 4.1 and 4.2, completed as
// follows:
//
// Chain      one or two loads of 1, 2 or 4 bytes per lane, zero to two operations (chain_operations.h) on their data and one
//            uniform value (constant, literal or SGPR), and possibly a store. All are in one basic block, under one EXEC mask.
//            A chain ends with a store, a comparison, or an operation whose result remains in a register; such an operation has
//            two loads, because the data of a single load would return anyway.
// No reuse   the data that a chain loads, and the value that it stores, have no other reader on any path through the kernel, in
//            any lane (models/isa/analysis/value_readers.h).
// Split      v_mac, v_mad and other operations of two steps are split if the third operand is in a VGPR that the chain does not
//            load or compute: the first step belongs to the chain, the second remains at the core.
// Memory     no barrier, atomic operation or cache control inside a chain, and no store that could affect the chain's lines.
//            Stores to LDS or private memory cannot, nor can stores with the same address registers and an offset that differs
//            by at least a line. The finalizer decides this per lane; the hardware checks conflicts between lanes.
// Waits      an s_waitcnt inside a chain belongs to the chain. If an instruction in the chain's range needs that wait for data
//            that no chain loads, there is no chain.
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
  fused,          ///< the reader is v_fma or v_fmac, which cannot be split, with a third operand from outside of the chain
  wide,           ///< the load, or the store of its data, has more than 4 bytes per lane
  form,           ///< unsupported load: neither FLAT nor GLOBAL, or with glc, slc, tfe, d16, a format or AGPRs
  operation,      ///< a packet cannot encode the reader: f64, packed, transcendental, DPP, use as an address
  exec,           ///< EXEC, M0 or MODE is written between load and use
  branch,         ///< the reader of the data is in another basic block
  alias,          ///< between the chain's instructions: a store that may affect its lines, a barrier, atomic or cache control
  packet,         ///< the chain does not fit a packet: modifiers, two uniform values, unequal elements, too many operations
  lds,            ///< the load writes to LDS, or an LDS instruction reads its data
  nothing_saved,  ///< the data would return to the core anyway, or have no reader
  wait,           ///< an s_waitcnt in between is needed for data that no chain loads
  interleaved,    ///< the chain overlaps with another chain (FinalizerOptions::interleaved = false)
  count
};
std::string_view refusal_name(ChainRefusal reason);

struct RefusedLoad {
  std::uint64_t address = 0;
  ChainRefusal reason = ChainRefusal::reused;
  std::uint64_t because = 0;  ///< address of the instruction that is the reason, or of the load itself
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
  /// With `move`: allows a load to move behind a wait that it preceded, which takes interleaved chains apart. A core that
  /// performs such chains itself then waits for one chain after the other (SCP on mesh56 without offloading takes 25 % longer).
  bool take_apart = true;
  /// Also tags chains whose ranges overlap, since compilers interleave the iterations of a loop.
  bool interleaved = true;
  /// VGPRs allocated to the kernel, rounded up to the allocation granule: `move` may use VGPRs that no instruction names.
  unsigned vgprs = 0;
};

struct FinalizedKernel {
  /// Reason why the control flow is not fully known and nothing is tagged, such as "s_swappc_b64 at 0x1234"; empty if it is
  /// known.
  std::string unknown;
  std::uint64_t instructions = 0;
  std::uint64_t loads = 0;            ///< loads from vector memory, in chains or refused
  std::vector<Chain> chains;          ///< chains, ascending by first address
  std::vector<RefusedLoad> refusals;  ///< refused loads, ascending by address
  std::vector<CodePatch> patches;     ///< ascending by address; `chains` and `refusals` refer to the patched code
  std::uint64_t moved = 0;            ///< number of instructions that the patches move or whose registers they rename
};

/// Finds the chains of the kernel whose first instruction is at `entry`; `fetch` returns its code.
FinalizedKernel finalize_kernel(const isa::FetchWords& fetch, isa::Target target, std::uint64_t entry,
                                const FinalizerOptions& options);

/// Number of instructions in the chain's range that do not belong to the chain; 0 if the chain is contiguous.
unsigned foreign_instructions(const Chain& chain, const isa::FetchWords& fetch, isa::Target target);

/// Texts for reports: a tag as "01", a role as "load a".
std::string_view tag_bits(ChainTag tag);
std::string_view role_name(ChainRole role);
/// Pattern of a chain as in the paper's Table 1, "c = f(a, b)"; for pattern 0 the components, "ld ld alu alu st".
std::string chain_name(const Chain& chain);

}  // namespace lacuna
