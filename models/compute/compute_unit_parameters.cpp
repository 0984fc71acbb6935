#include "models/compute/compute_unit_parameters.h"

#include <algorithm>

#include "models/isa/target.h"

namespace lacuna {

unsigned ComputeUnitParameters::turn_period() const { return std::min(simds, isa::kLanes / lanes_per_simd); }

void ComputeUnitParameters::describe(ParameterSection& s) {
  constexpr std::string_view kTable2 = "LazyGPU (ISCA '25), Table 2 and section 5.1";
  constexpr std::string_view kGcn3 = "GCN3 ISA manual, program organisation";
  constexpr std::string_view kGcnRates = "GCN architecture white paper: 16 lanes, a quarter rate is 4 passes; Fiji f64 is 1/16";
  constexpr std::string_view kPipelined = "GCN architecture white paper: a wavefront's turn comes every 4 cycles";
  constexpr std::string_view kAssumed = "assumption, see docs/deviations/compute.md";
  s.add("simds", simds, "SIMDs of a compute unit", {.range = {1, 8}, .power_of_two = true, .unit = "SIMDs", .source = kTable2});
  s.add("lanes_per_simd", lanes_per_simd, "Lanes that a SIMD executes in a cycle",
        {.range = {4, 64}, .power_of_two = true, .unit = "lanes", .source = kTable2});
  s.add("wavefronts_per_simd", wavefronts_per_simd, "Wavefront slots of a SIMD",
        {.range = {1, 16}, .unit = "wavefronts", .source = kTable2});
  s.add("vgprs_per_simd", vgprs_per_simd, "Vector registers of a SIMD, each 64 lanes x 32 bits",
        {.range = {64, 512}, .unit = "registers", .source = kTable2});
  s.add("sgprs_per_simd", sgprs_per_simd, "Scalar registers of a SIMD",
        {.range = {112, 4096}, .unit = "registers", .source = kGcn3});
  s.add("issue_policy", issue_policy, "In which order a SIMD offers a cycle to its wavefronts",
        {{"oldest", static_cast<int>(IssuePolicy::oldest)},
         {"round_robin", static_cast<int>(IssuePolicy::round_robin)},
         {"greedy", static_cast<int>(IssuePolicy::greedy)}},
        {.source = kAssumed});
  s.add("simd_policy", simd_policy,
        "Which SIMD a cycle is offered to: each in turn, or the last one as long as it has wavefronts to issue from",
        {{"in_turn", static_cast<int>(SimdPolicy::in_turn)}, {"last_served", static_cast<int>(SimdPolicy::last_served)}},
        {.source = "GCN architecture white paper: the SIMDs are served in turn"});
  s.add("lds", lds, "Local data share", {.range = {1024, 262144}, .source = kGcn3});
  s.add("lds_granule", lds_granule, "Allocation granule of the local data share",
        {.range = {64, 4096}, .power_of_two = true, .source = kGcn3});
  s.add("lds_conflicts", lds_conflicts,
        "Whether lanes that access the same bank of the local data share are served one after another; otherwise every access "
        "takes a cycle",
        {.source = kGcn3});
  s.add("lane_groups", lane_groups,
        "Lanes of a vector memory instruction that are served together. none: lanes_per_simd lanes and one line a cycle. "
        "quads: four lanes a cycle whose lines of "
        "64 bytes are in different of four tag banks, and whose words of 16 bytes are in different of four data banks; sixteen "
        "lanes of neighbouring dwords. Give the L1 four ports then",
        {{"none", static_cast<int>(LaneGroups::none)}, {"quads", static_cast<int>(LaneGroups::quads)}},
        {.source = "none: as in MGPUSim; quads: models/compute/memory/lane_groups.h"});
  s.add("transaction_bytes", transaction_bytes, "Bytes of a coalesced memory transaction, 32, 64 or 128",
        {.range = {32, 128}, .power_of_two = true, .unit = "bytes", .source = kTable2});
  s.add("reorder_entries", reorder_entries,
        "Entries of a buffer that returns the transactions of all wavefronts in order, one per cycle; 0 = only transactions of "
        "the same wavefront are in order",
        {.range = {0, 4096}, .source = "choice; MGPUSim v3.0.3: 128"});
  s.add("f64_rate_divisor", f64_rate_divisor, "Issue rate of 32-bit floating point divided by that of 64-bit",
        {.range = {1, 64}, .source = kGcnRates});
  s.add("f64_add_rate_divisor", f64_add_rate_divisor,
        "The same for 64-bit instructions that do not multiply: additions, comparisons, conversions; 0: f64_rate_divisor",
        {.range = {0, 64}, .source = "choice; CLRX, GCN timings: half of the cycles of a multiplication"});
  s.add("f64_transcendental_rate_divisor", f64_transcendental_rate_divisor,
        "The same for 64-bit reciprocals and roots; 0: f64_rate_divisor * transcendental_rate_divisor",
        {.range = {0, 4096}, .source = "choice; CLRX, GCN timings: the cycles of a multiplication"});
  s.add("mul32_rate_divisor", mul32_rate_divisor, "Issue rate of an addition divided by that of a 32-bit integer multiply",
        {.range = {1, 64}, .source = kGcnRates});
  s.add("transcendental_rate_divisor", transcendental_rate_divisor,
        "Issue rate of an addition divided by that of reciprocal, root, exponential and sine",
        {.range = {1, 64}, .source = kGcnRates});
  s.add("logic_rate_divisor", logic_rate_divisor,
        "Issue rate of an f32 addition divided by that of integer, bitwise and move instructions, comparisons, minimum and "
        "maximum; while one of these occupies their shared port, f32 additions may issue",
        {.range = {1, 64}, .source = kGcnRates});
  s.add("mfma_pass_cycles", mfma_pass_cycles, "Cycles of a pass of the matrix unit, of which an instruction takes 2 to 16",
        {.range = {1, 64}, .source = "CDNA2 ISA manual, MFMA instructions: a pass is four cycles"});
  s.add("wait_state_cycles", wait_state_cycles, "Cycles that s_nop adds for each wait state beyond the first",
        {.range = {0, 64}, .source = "GCN3 ISA manual, S_NOP: repeats no-ops, each of which takes the wavefront's turn"});
  s.add("valu_decode_cycles", valu_decode_cycles,
        "Cycles after which a wavefront's next instruction may follow once the vector unit is free for other wavefronts",
        {.range = {0, 64}, .source = kPipelined});
  s.add("salu_cycles", salu_cycles, "Cycles from a scalar instruction to the wavefront's next one",
        {.range = {1, 64}, .source = kGcnRates});
  s.add("special_cycles", special_cycles,
        "Cycles from a satisfied wait, a barrier or a no-op to the wavefront's next instruction",
        {.range = {1, 64}, .source = kPipelined});
  s.add("vmem_cycles", vmem_cycles, "Cycles from a vector memory instruction to the wavefront's next one",
        {.range = {1, 64}, .source = kPipelined});
  s.add("branch_cycles", branch_cycles, "Cycles from a branch to the wavefront's next instruction",
        {.range = {1, 64}, .source = kAssumed});
  s.add("lds_cycles", lds_cycles, "Minimum cycles for which an LDS instruction occupies the LDS", {.range = {1, 64}});
  s.add(
      "lds_transfers", lds_transfers,
      "Whether an LDS instruction takes time for each dword that a lane sends (address, data) or receives: as long as a plain "
      "vector instruction for its wavefront, and half of that for the LDS",
      {.source = "choice; CLRX, GCN timings: loads, stores and atomics of 32 to 128 bits"});
  s.add("lds_latency", lds_latency, "Cycles from an LDS instruction to its data, without conflicts",
        {.range = {1, 1024}, .source = kAssumed});
  s.add("vmem_address_latency", vmem_address_latency, "Cycles from issue of a vector memory instruction to its first request",
        {.range = {0, 1024}, .source = kAssumed});
  s.add("vmem_return_latency", vmem_return_latency, "Cycles from the L1's response to the register file",
        {.range = {0, 1024}, .source = kAssumed});
  s.add("smem_latency", smem_latency, "Cycles that a scalar memory instruction spends outside its cache",
        {.range = {0, 1024}, .source = kAssumed});
  s.add("barrier_latency", barrier_latency, "Cycles from the last arrival at a barrier to the release",
        {.range = {0, 1024}, .source = kAssumed});
  s.add("launch_latency", launch_latency, "Cycles from a workgroup's dispatch to its first instruction fetch",
        {.range = {0, 4096}, .source = kAssumed});
}

}  // namespace lacuna
