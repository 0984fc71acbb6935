// Payload of an initiator that makes timing-only requests one after the other. The payload is reset for each request, and its
// attributes stay attached. Nothing is allocated, and references are not counted.
#pragma once

#include <tlm>

#include "models/common/transport/memory_attributes.h"
#include "models/common/transport/memory_request.h"

namespace lacuna {

/// Intended for initiators that have one timing_only request in flight at a time and whose targets do not keep the payload
/// after the call (b_transport without wait).
class TimingPayload {
 public:
  TimingPayload() { payload_.set_extension(&attributes_); }
  // The payload's destructor would delete extensions that are still attached.
  ~TimingPayload() { payload_.clear_extension(&attributes_); }
  TimingPayload(const TimingPayload&) = delete;
  TimingPayload& operator=(const TimingPayload&) = delete;

  /// Starts a new request with default attributes and timing_only set. Keeps the latency breakdown, for initiators that
  /// accumulate it over several requests; clear_latency() resets it.
  MemoryAttributes& renew(tlm::tlm_command command, std::uint64_t address, unsigned length) {
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_length(length);
    payload_.set_streaming_width(length);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    attributes_.kind = RequestKind::host;
    attributes_.timing_only = true;
    attributes_.atomic = false;
    attributes_.bypass_l1 = false;
    attributes_.requester = 0;
    attributes_.byte_mask = ByteMask::all();
    return attributes_;
  }
  /// Starts a new request from a MemoryRequest, with a cleared latency breakdown.
  void renew(const MemoryRequest& request) {
    renew(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, request.address, request.bytes);
    clear_latency();
    attributes_.kind = request.kind;
    attributes_.atomic = request.atomic;
    attributes_.bypass_l1 = request.bypass_l1;
    attributes_.requester = request.requester;
    attributes_.byte_mask = request.byte_mask;
  }
  void clear_latency() { attributes_.latency.clear(); }

  tlm::tlm_generic_payload& operator*() { return payload_; }
  tlm::tlm_generic_payload* operator->() { return &payload_; }
  const LatencyBreakdown& latency() const { return attributes_.latency; }

 private:
  tlm::tlm_generic_payload payload_;
  MemoryAttributes attributes_;
};

}  // namespace lacuna
