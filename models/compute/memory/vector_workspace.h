// Working storage of the vector memory unit for one instruction: the addresses and requests of the instruction.
//
// Its contents are not used after the instruction has issued. The units of a group, which run in turn, share a workspace, so
// that it stays in the host's nearest caches.
#pragma once

#include <array>

#include "models/common/transport/memory_request.h"
#include "models/compute/memory/coalescer.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna {

struct VectorWorkspace {
  /// `line_bytes`: size of a transaction.
  explicit VectorWorkspace(unsigned line_bytes) : coalescer(line_bytes) {}

  isa::LaneAddresses addresses;  ///< addresses of the lanes of the instruction being executed
  Coalescer coalescer;
  /// Requests of an instruction; `responses` has the responses that arrive immediately.
  std::array<MemoryRequest, 2 * isa::kLanes> requests;
  std::array<Tick, 2 * isa::kLanes> arrivals;  ///< arrivals of `requests` at the first-level cache
  std::array<MemoryResponse, 2 * isa::kLanes> responses;
};

}  // namespace lacuna
