// Scratch of the vector memory unit for one instruction: its addresses and its requests.
//
// It holds nothing beyond the issue of the instruction. The units of a group, which run in turn, share one, so that it stays in
// the host's nearest caches.
#pragma once

#include <array>

#include "models/common/transport/memory_request.h"
#include "models/compute/memory/coalescer.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

struct VectorWorkspace {
  /// `line_bytes`: of a transaction.
  explicit VectorWorkspace(unsigned line_bytes) : coalescer(line_bytes) {}

  isa::LaneAddresses addresses;  ///< the lanes of the instruction that executes
  Coalescer coalescer;
  /// An instruction's requests, and the responses that are immediate.
  std::array<MemoryRequest, 2 * isa::kLanes> requests;
  std::array<Tick, 2 * isa::kLanes> arrivals;  ///< arrivals of `requests` at the first-level cache
  std::array<MemoryResponse, 2 * isa::kLanes> responses;
};

}  // namespace lacuna
