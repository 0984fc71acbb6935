// A part of a chain that is performed as a unit: lanes whose operands and stores are in the same lines. The part occupies an
// entry of its core's offload queue and, at the node that computes, an entry of the service queue.
//
// Near-data models exchange ChainPackets by number (a packet's tag in the network), not by value: the network carries times.
// A packet's encoding (models/neardata/compute_packet.h) determines its number of flits.
#pragma once

#include <cstdint>

#include "models/common/transport/byte_mask.h"

namespace lacuna {

struct Chain;

struct ChainPacket {
  static constexpr std::uint64_t kNoLine = ~std::uint64_t{0};
  static constexpr unsigned kMostLanes = 32;

  const Chain* chain = nullptr;
  std::uint64_t lanes = 0;         ///< lanes of the wavefront; all within 32 consecutive lanes
  std::uint64_t line_a = kNoLine;  ///< bus address of the first load's line
  std::uint64_t line_b = kNoLine;  ///< bus address of the second load's line; kNoLine: no second load
  std::uint64_t store = kNoLine;   ///< bus address of the store's line; kNoLine: no store
  ByteMask stored = ByteMask();    ///< bytes of the store's line that are stored
  bool has_second() const { return line_b != kNoLine; }
  bool has_store() const { return store != kNoLine; }
};

/// Tag of a packet in the network: core, and number of the packet in the core, below 2^14.
constexpr std::uint32_t packet_tag(unsigned core, unsigned number) { return core << 14 | number; }
constexpr unsigned core_of(std::uint32_t tag) { return tag >> 14; }
constexpr unsigned number_of(std::uint32_t tag) { return tag & 0x3fff; }

}  // namespace lacuna
