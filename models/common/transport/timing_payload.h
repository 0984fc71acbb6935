// The payload of an initiator that charges time for one request after the other: attached to its attributes for good, and
// renewed for each request. Nothing is allocated and no reference is counted.
#pragma once

#include <tlm>

#include "models/common/transport/line_memory.h"
#include "models/common/transport/memory_attributes.h"

namespace lacuna {

/// For initiators that have one timing_only request under way at a time and whose targets keep none (b_transport without wait).
class TimingPayload {
 public:
  TimingPayload() { payload_.set_extension(&attributes_); }
  // The payload's destructor would delete what is still attached.
  ~TimingPayload() { payload_.clear_extension(&attributes_); }
  TimingPayload(const TimingPayload&) = delete;
  TimingPayload& operator=(const TimingPayload&) = delete;

  /// A new request. Its attributes are the default ones, with timing_only; the latency breakdown stays, for initiators that add
  /// up several requests: clear_latency() begins anew.
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
    attributes_.byte_mask = ~std::uint64_t{0};
    return attributes_;
  }
  /// A new request as a line access says, with a latency breakdown of its own.
  void renew(const LineAccess& access) {
    renew(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, access.address, access.bytes);
    clear_latency();
    attributes_.kind = access.kind;
    attributes_.atomic = access.atomic;
    attributes_.bypass_l1 = access.bypass_l1;
    attributes_.requester = access.requester;
    attributes_.byte_mask = access.byte_mask;
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
