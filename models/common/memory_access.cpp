#include "models/common/memory_access.h"

#include <cstring>

#include "models/common/memory_attributes.h"

namespace lacuna {

bool is_timing_only(const tlm::tlm_generic_payload& payload) {
  const auto* attributes = payload.get_extension<MemoryAttributes>();
  return attributes != nullptr && attributes->timing_only;
}

tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size) {
  const std::uint64_t length = payload.get_data_length();
  if (length == 0 || (payload.get_data_ptr() == nullptr && !is_timing_only(payload))) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  const std::uint64_t offset = payload.get_address();
  if (offset >= size.n || length > size.n - offset) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_streaming_width() < length) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

void move_data(tlm::tlm_generic_payload& payload, std::byte* memory) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND || is_timing_only(payload)) return;
  const bool read = payload.is_read();
  unsigned char* data = payload.get_data_ptr();
  const unsigned length = payload.get_data_length();
  const unsigned char* enables = payload.get_byte_enable_ptr();
  if (enables == nullptr) {
    if (read) {
      std::memcpy(data, memory, length);
    } else {
      std::memcpy(memory, data, length);
    }
    return;
  }
  const unsigned enable_length = payload.get_byte_enable_length();
  for (unsigned i = 0; i < length; ++i) {
    if (enables[i % enable_length] != TLM_BYTE_ENABLED) continue;
    if (read) {
      data[i] = std::to_integer<unsigned char>(memory[i]);
    } else {
      memory[i] = std::byte{data[i]};
    }
  }
}

}  // namespace lacuna
