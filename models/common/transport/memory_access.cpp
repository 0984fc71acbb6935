#include "models/common/transport/memory_access.h"

#include <cstring>

namespace lacuna {

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
