// Cycles that an access occupies an address unit and a cache that serve four lanes a cycle (LaneGroups::quads).
//
// The cache has four tag banks, which successive lines of 64 bytes take in turn, and four data banks, which successive words of
// 16 bytes take in turn. A cycle serves a group of up to four lanes whose lines and words are in different banks. Otherwise the
// group takes a cycle for each different line of its busiest tag bank, or for each different word of its busiest data bank, if
// these are more.
//
//   a lane accesses     a group is
//   more than 4 bytes   four neighbouring lanes: 16 groups
//   up to 4 bytes       lanes i, i + 4, i + 8 and i + 12 of 16 neighbouring lanes: four groups in 16 lanes. If each four
//                       neighbouring lanes of the 16 access neighbouring dwords, or the same word, the 16 lanes are one group
//
// A group without active lanes takes no cycle.
//
// The rates of full groups are AMD's ("Understanding Memory Coalescing on GCN", gpuopen.com: 4 cycles for 64 neighbouring
// dwords, 16 for wider elements). The groups and banks are inferred from measured strides on an MI210
// (tests/validation/silicon, mi210-stride-* and mi210-block-* of the set `inform`): of 17 numbers 16 are met to within a cycle
// of 32 lanes.
#pragma once

#include <array>
#include <cstdint>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

/// Lanes that are served together.
inline constexpr unsigned kGroupLanes = 4;

/// Cycles of all groups of an access.
unsigned group_cycles(const isa::MemoryAccess& access, const std::array<std::uint64_t, isa::kLanes>& addresses);

}  // namespace lacuna
