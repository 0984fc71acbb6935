// First-level memory at a TLM socket, for targets that respond immediately.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "models/common/transport/memory_request.h"
#include "models/common/transport/timing_payload.h"

namespace lacuna {

class ComputeUnit;

class SocketMemory : public MemoryTarget {
 public:
  explicit SocketMemory(tlm_utils::simple_initiator_socket<ComputeUnit>& socket) : socket_(socket) {}
  /// Always returns true. An error response is fatal: every mapped page has memory.
  bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
               MemoryResponse& response) override;

 private:
  tlm_utils::simple_initiator_socket<ComputeUnit>& socket_;
  TimingPayload payload_;
};

}  // namespace lacuna
