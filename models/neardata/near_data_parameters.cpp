#include "models/neardata/near_data_parameters.h"

#include <string_view>

namespace lacuna {

void NearDataParameters::describe(ParameterSection& s) {
  constexpr std::string_view kQueues = "Opportunistic Computing (ISCA '19), sections 4.2 and 6.3";
  s.add("mode", mode, "Nodes of the network that compute: none, those of the last-level caches, or these and the cores'",
        {{"none", static_cast<int>(NearDataMode::none)},
         {"llc", static_cast<int>(NearDataMode::llc)},
         {"omni", static_cast<int>(NearDataMode::omni)}},
        {.source = "Opportunistic Computing (ISCA '19), sections 3 and 4"});
  s.add("move", move,
        "Whether the code of a kernel is changed when it is tagged: address arithmetic moves in front of chains, so that the "
        "instructions of a chain are contiguous",
        {.source = "Opportunistic Computing (ISCA '19), Fig. 6"});
  s.add("take_apart", take_apart,
        "With ndc.move: whether loads may move past waits that follow them, as those of interleaved chains must; fewer loads "
        "are then in flight at the same time",
        {.source = "not given; docs/deviations/near-data.md"});
  s.add("interleaved", interleaved,
        "Whether interleaved chains are tagged, such as compilers make of the iterations of a loop: each but the "
        "last waits in the offload queue for the results of those before it",
        {.source = "Opportunistic Computing (ISCA '19), Fig. 6: chains are contiguous"});
  s.add("oq_entries", oq_entries, "Entries of a core's offload queue, one for each packet",
        {.range = {1, 128}, .unit = "entries", .source = kQueues});
  s.add("builders", builders, "Wavefronts of a core whose chains may be under construction at the same time",
        {.range = {1, 64}, .source = "Opportunistic Computing (ISCA '19), section 4.4.1: one packet generation unit"});
  s.add("pending_fill", pending_fill, "Whether a load of a chain whose line is being filled into the L1 cache hits or misses",
        {{"hit", static_cast<int>(PendingFill::hit)}, {"miss", static_cast<int>(PendingFill::miss)}},
        {.source = "not given; docs/deviations/near-data.md"});
  s.add("store_counts", store_counts,
        "Whether the last-level cache of the store takes part in choosing the node of a chain with one load",
        {.source = "Opportunistic Computing (ISCA '19), section 6.1: COPY-STRIDED gains in Omni-Compute"});
  s.add("sq_entries", sq_entries, "Entries of a service queue", {.range = {1, 1024}, .unit = "entries", .source = kQueues});
  s.add("sq_buffer", sq_buffer, "Entries whose operands a service queue of a last-level cache may hold",
        {.range = {1, 1024}, .unit = "entries", .source = "Opportunistic Computing (ISCA '19), section 4.4.2"});
  s.add("fetch_latency", fetch_latency,
        "Cycles from the fetch of an entry's lines, which are in the last-level cache, to the buffer",
        {.range = {0, 1024}, .source = "not given; docs/deviations/near-data.md"});
  s.add(
      "llc_alu_lanes", llc_alu_lanes, "Lanes of the ALU at a last-level cache",
      {.range = {1, 32}, .power_of_two = true, .unit = "lanes", .source = "Opportunistic Computing (ISCA '19), section 4.4.2"});
  s.add("core_alu", core_alu, "ALU of a core's service queue: the core's while it is idle, or a dedicated one",
        {{"shared", static_cast<int>(CoreAlu::shared)}, {"dedicated", static_cast<int>(CoreAlu::dedicated)}},
        {.source = "Opportunistic Computing (ISCA '19), sections 4.4.2 and 6.3"});
  s.add("core_alu_lanes", core_alu_lanes, "Lanes of a dedicated ALU",
        {.range = {1, 32}, .power_of_two = true, .unit = "lanes", .source = "Opportunistic Computing (ISCA '19), section 6.3"});
  s.add("alu_latency", alu_latency, "Cycles of an operation of a service queue's ALU, after it has taken the operands' lanes",
        {.range = {1, 1024}, .source = "that of a core's vector instruction: four cycles"});
  s.add("chain_end", chain_end, "When a chain that stores is complete: when its store is acknowledged, or when it is computed",
        {{"store", static_cast<int>(ChainEnd::store)}, {"computation", static_cast<int>(ChainEnd::computation)}},
        {.source = "Opportunistic Computing (ISCA '19), Fig. 3: store; section 4.2 frees the entry earlier"});
  s.add("check", check,
        "Whether the model checks itself: when a service queue reads memory, it is compared with what the chain's loads have "
        "read, and lanes that differ are counted; packets are decoded; and after each kernel what has been sent must have "
        "arrived, and all "
        "queues must be empty, or the simulation ends",
        {.source = "choice"});
}

}  // namespace lacuna
