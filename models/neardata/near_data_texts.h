// Near-data computing's columns in the records of kernels: causes of stalls, and counts. No SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/config/extension_texts.h"

namespace lacuna {

/// Stall causes of wavefronts, in addition to StallCause.
enum class NearDataCause : std::uint8_t { chain, builder, count };
inline constexpr std::size_t kNearDataCauses = static_cast<std::size_t>(NearDataCause::count);
constexpr std::array<StallText, kNearDataCauses> kNearDataCauseTexts{{
    {"chain", "waits for the result or the acknowledgement of its chain, computed near the data or by the core after all",
     "latency of chains"},
    {"builder", "waits for the packet generation unit, which builds the chain of another wavefront",
     "packet generation (`ndc.builders`)"},
}};

/// Outcomes of chains of tagged instructions (models/neardata/offload_unit.h).
enum class NearDataCount : std::uint8_t {
  chains,
  packets,
  packets_llc,
  mask_flits,
  bounced,
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
  latency,
  tagged,
  tagged_memory,
  count
};
inline constexpr std::size_t kNearDataCounts = static_cast<std::size_t>(NearDataCount::count);
constexpr std::array<ExtensionCountText, kNearDataCounts> kNearDataCountTexts{{
    {"chains", "chains", "of tagged instructions that wavefronts have begun with at least one lane active"},
    {"packets", "packets", "sent to nodes that compute: parts of a chain with the same lines"},
    {"packets_llc", "packets", "of these, sent to the nodes of last-level caches"},
    {"mask_flits", "flits", "that these packets have beyond one, for masks and scattered lanes"},
    {"bounced", "packets", "of these, whose data came to the core because the service queue was full"},
    {"hit_first", "parts", "not offloaded: the first load hits in the L1 cache"},
    {"hit_second", "parts", "not offloaded: the second load hits in the L1 cache"},
    {"pending_fill", "parts", "not offloaded: a line is being filled into the L1 cache (`ndc.pending_fill`)"},
    {"queue_full", "parts", "not offloaded: the offload queue is full"},
    {"no_node", "parts", "not offloaded: no node is on the paths of both operands"},
    {"cannot_compute", "parts", "not offloaded: the node on the paths of both operands does not compute"},
    {"own_store", "parts", "not offloaded: a store of the wavefront to one of its lines is not complete"},
    {"lds", "parts", "not offloaded: the kernel's LDS leaves no room for the operands of a core's service queue"},
    {"lanes", "parts", "not offloaded: lanes whose data are in two lines"},
    {"address_space", "chains",
     "not offloaded: lanes in LDS or private memory, an access that is performed later, or memory that no last-level cache "
     "serves"},
    {"latency", "cycles", "from the first instruction of a chain to its completion, summed over chains with packets"},
    {"tagged", "instructions", "of all chains that wavefronts have begun, without waits: also where they stay at the core"},
    {"tagged_memory", "instructions", "of these, loads and stores"},
}};

constexpr ExtensionTexts kNearDataTexts{"ndc", kNearDataCauseTexts, kNearDataCountTexts};
/// Registers the texts.
inline const ExtensionSlots& near_data_slots() {
  static const ExtensionSlots slots = register_extension(kNearDataTexts);
  return slots;
}

}  // namespace lacuna
