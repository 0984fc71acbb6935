// Columns that near-data computing adds to kernel records: causes of stalls, and counts. No SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "models/common/config/extension_texts.h"

namespace lacuna {

/// Stall causes of wavefronts, in addition to StallCause.
enum class NearDataCause : std::uint8_t { chain, builder, count };
inline constexpr std::size_t kNearDataCauses = static_cast<std::size_t>(NearDataCause::count);
constexpr std::array<StallText, kNearDataCauses> kNearDataCauseTexts{{
    {"chain", "waits for the result or the acknowledgement of its chain, whether computed near the data or by the core",
     "latency of chains", "more wavefronts for each core, `noc.width`, `ndc.mode = none` if most chains stay at the core"},
    {"builder", "waits for the packet generation unit, which builds the chain of another wavefront",
     "packet generation (`ndc.builders`)", "`ndc.builders`"},
}};

/// Counts of chains of tagged instructions (models/neardata/offload_unit.h).
enum class NearDataCount : std::uint8_t {
  chains,
  offloaded,
  packets,
  packets_llc,
  mask_flits,
  bounced,
  most_input,
  hit_first,
  hit_second,
  pending_fill,
  queue_full,
  no_node,
  cannot_compute,
  own_store,
  lds,
  lanes,
  address_space,
  code_changed,
  lanes_changed,
  latency,
  tagged,
  tagged_memory,
  latency_build,
  latency_injection,
  latency_links,
  latency_network,
  latency_caches,
  latency_queue,
  latency_alu,
  latency_core,
  pattern_0,
  pattern_1,
  pattern_2,
  pattern_3,
  pattern_4,
  pattern_5,
  pattern_6,
  pattern_7,
  pattern_8,
  pattern_9,
  count
};
inline constexpr std::size_t kNearDataCounts = static_cast<std::size_t>(NearDataCount::count);
constexpr std::array<ExtensionCountText, kNearDataCounts> kNearDataCountTexts{{
    {"chains", "chains", "of tagged instructions that wavefronts have begun with at least one lane active"},
    {"offloaded", "chains", "of these, of which at least one packet has been sent"},
    {"packets", "packets", "sent to nodes that compute: parts of a chain with the same lines"},
    {"packets_llc", "packets", "of these, sent to the nodes of last-level caches"},
    {"mask_flits", "flits", "that these packets have beyond one, for masks and scattered lanes"},
    {"bounced", "packets", "of these, whose data came to the core because the service queue was full"},
    {"most_input", "packets",
     "maximum number in the input of a service queue: not decoded, or not accepted and with loads that have not left"},
    {"hit_first", "parts", "not offloaded: the first load hits in the L1 cache"},
    {"hit_second", "parts", "not offloaded: the second load hits in the L1 cache"},
    {"pending_fill", "parts", "not offloaded: a line is being filled into the L1 cache (`ndc.pending_fill`)"},
    {"queue_full", "parts", "not offloaded: the offload queue is full"},
    {"no_node", "parts", "not offloaded: no node is on the paths of both operands"},
    {"cannot_compute", "parts", "not offloaded: the node on the paths of both operands does not compute"},
    {"own_store", "parts", "not offloaded: a store of the wavefront to one of its lines is not complete"},
    {"lds", "parts", "not offloaded: the kernel's LDS leaves no room for the operands of a core's service queue"},
    {"lanes", "parts", "not offloaded: lanes whose data are in two lines"},
    {"address_space", "parts",
     "not offloaded: memory that no last-level cache serves; or, counted once for a chain, lanes in LDS or private memory, or "
     "an access that is performed later"},
    {"code_changed", "chains", "not offloaded: the code has changed since it was tagged"},
    {"lanes_changed", "lanes",
     "of operands for which memory had changed since the load when a service queue read them (`ndc.check`)"},
    {"latency", "cycles", "from the first instruction of a chain to its completion, summed over chains with packets"},
    {"tagged", "instructions", "of all chains that wavefronts have begun, without waits: also where they stay at the core"},
    {"tagged_memory", "instructions", "of these, loads and stores"},
    {"latency_build", "cycles", "from the first instruction of a chain to the departure of a packet, summed over packets"},
    {"latency_injection", "cycles",
     "of the time from there to the packet's result: in injection queues of nodes, of the packet, of the response to its last "
     "operand and to its store, and of the result"},
    {"latency_links", "cycles", "of that time: other waits in the network"},
    {"latency_network", "cycles", "of that time: passing the network"},
    {"latency_caches", "cycles", "of that time: last-level caches and DRAM, waits included"},
    {"latency_queue", "cycles",
     "of that time: decoding, waiting for the service queue's buffer, and fetch; at a core, LDS writes and reads of operands"},
    {"latency_alu", "cycles", "of that time: waiting for the service queue's ALU, and operations"},
    {"latency_core", "cycles",
     "of that time: from the arrival at the core to its registers, and operations of packets that were not taken"},
    {"pattern_0", "chains", "begun that no row of Table 1 describes"},
    {"pattern_1", "chains", "begun of row 1 of Table 1, c = f(a, b)"},
    {"pattern_2", "chains", "likewise, c = f(a, b, c)"},
    {"pattern_3", "chains", "likewise, c = a"},
    {"pattern_4", "chains", "likewise, c = f(a, c)"},
    {"pattern_5", "chains", "likewise, h(a, b)"},
    {"pattern_6", "chains", "likewise, h(a, i)"},
    {"pattern_7", "chains", "likewise, c = f(a, i)"},
    {"pattern_8", "chains", "likewise, d = f(a, d, g(b, i))"},
    {"pattern_9", "chains", "likewise, d = f(a, g(b, i))"},
}};

constexpr ExtensionTexts kNearDataTexts{"ndc", kNearDataCauseTexts, kNearDataCountTexts};
/// Registers the texts on the first call.
inline const ExtensionSlots& near_data_slots() {
  static const ExtensionSlots slots = register_extension(kNearDataTexts);
  return slots;
}

/// Reasons why parts of chains stay at the core, each with a short text.
inline constexpr std::array<std::pair<NearDataCount, std::string_view>, 11> kNearDataReasonsToStay{
    {{NearDataCount::hit_first, "L1 hits of first loads"},
     {NearDataCount::hit_second, "L1 hits of second loads"},
     {NearDataCount::pending_fill, "pending fills"},
     {NearDataCount::queue_full, "offload queue full"},
     {NearDataCount::no_node, "no meeting node"},
     {NearDataCount::cannot_compute, "node does not compute"},
     {NearDataCount::own_store, "stores in flight"},
     {NearDataCount::lds, "no room in LDS"},
     {NearDataCount::lanes, "lanes in two lines"},
     {NearDataCount::address_space, "LDS, private or host memory"},
     {NearDataCount::code_changed, "changed code"}}};

}  // namespace lacuna
