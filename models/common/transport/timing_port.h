// Timing-only requests of an initiator that transfers its data through GPUVM windows. A call makes one blocking request and
// returns its completion time. Requests have RequestKind::command_processor.
#pragma once

#include <cstdint>
#include <tlm>

#include "models/common/time/tlm_time.h"
#include "models/common/transport/payload_pool.h"

namespace lacuna {

class TimingPort {
 public:
  struct Response {
    Tick done;  ///< completion time, not before `at`; may be ahead of the SystemC kernel
    bool ok;    ///< false: no memory at the bus address
  };

  /// `socket` must outlive the port and be bound before the first access.
  explicit TimingPort(tlm::tlm_initiator_socket<>& socket) : socket_(socket) {}

  /// Reads or writes `bytes` bytes with a request that departs at `at`, which must not be before the SystemC kernel time.
  Response access(std::uint64_t bus_address, unsigned bytes, bool write, Tick at) {
    PooledPayload payload(payloads_);
    payload->set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload->set_address(bus_address);
    payload->set_data_length(bytes);
    payload->set_streaming_width(bytes);
    payload.attributes().kind = RequestKind::command_processor;
    payload.attributes().timing_only = true;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    set_local_time(delay, at);
    socket_->b_transport(*payload, delay);
    return {local_time(delay), payload->is_response_ok()};
  }

 private:
  tlm::tlm_initiator_socket<>& socket_;
  PayloadPool payloads_;
};

}  // namespace lacuna
