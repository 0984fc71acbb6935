// First-level memory at a TLM socket, for targets that respond immediately.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include "models/common/transport/line_memory.h"
#include "models/common/transport/timing_payload.h"

namespace lacuna {

class ComputeUnit;

class SocketMemory : public LineMemory {
 public:
  explicit SocketMemory(tlm_utils::simple_initiator_socket<ComputeUnit>& socket) : socket_(socket) {}
  /// Always true. A refused request is a fatal error: a mapped page has memory behind it.
  bool access(const LineAccess& request, Tick at, LineClient& client, std::uint32_t tag, LineAnswer& answer) override;

 private:
  tlm_utils::simple_initiator_socket<ComputeUnit>& socket_;
  TimingPayload payload_;
};

}  // namespace lacuna
