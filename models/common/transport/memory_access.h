// Common operations of memory-like targets on a generic payload: checks, and transfer of its data.
#pragma once

#include <cstddef>
#include <tlm>

#include "models/common/time/units.h"
#include "models/common/transport/memory_attributes.h"

namespace lacuna {

/// TLM_OK_RESPONSE, or the response with which a target of `size` bytes must reject the transaction (address relative to the
/// target):
///   outside, or across the end                         TLM_ADDRESS_ERROR_RESPONSE
///   length zero, or no data pointer for data           TLM_GENERIC_ERROR_RESPONSE
///   streaming width below the length                   TLM_BURST_ERROR_RESPONSE
///   byte enable pointer with length zero               TLM_BYTE_ENABLE_ERROR_RESPONSE
/// A payload whose MemoryAttributes are timing_only needs no data pointer; the overload with `attributes` is for callers that
/// have already looked up the attributes.
inline tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size);
inline tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size,
                                             const MemoryAttributes* attributes);

/// Whether the payload has MemoryAttributes with timing_only set.
inline bool is_timing_only(const tlm::tlm_generic_payload& payload) {
  const auto* attributes = payload.get_extension<MemoryAttributes>();
  return attributes != nullptr && attributes->timing_only;
}

/// Copies between the payload's data and `memory`, the host address of the payload's first byte in the target, respecting byte
/// enables.
/// Does nothing for timing_only payloads and TLM_IGNORE_COMMAND.
void move_data(tlm::tlm_generic_payload& payload, std::byte* memory);

inline tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size) {
  return check_access(payload, size, payload.get_extension<MemoryAttributes>());
}

inline tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size,
                                             const MemoryAttributes* attributes) {
  const std::uint64_t length = payload.get_data_length();
  const bool timing_only = attributes != nullptr && attributes->timing_only;
  if (length == 0 || (payload.get_data_ptr() == nullptr && !timing_only)) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  const std::uint64_t offset = payload.get_address();
  if (offset >= size.n || length > size.n - offset) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_streaming_width() < length) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

}  // namespace lacuna
