// What every memory-like target does with a generic payload: check it, and move its bytes.
#pragma once

#include <cstddef>
#include <tlm>

#include "models/common/units.h"

namespace lacuna {

/// TLM_OK_RESPONSE, or why a target of `size` bytes must refuse the transaction (address relative to the target):
///   outside, or across the end                         TLM_ADDRESS_ERROR_RESPONSE
///   length zero, or no data pointer for data           TLM_GENERIC_ERROR_RESPONSE
///   streaming width below the length                   TLM_BURST_ERROR_RESPONSE
///   byte enable pointer with length zero               TLM_BYTE_ENABLE_ERROR_RESPONSE
/// A payload whose MemoryAttributes say timing_only needs no data pointer.
tlm::tlm_response_status check_access(const tlm::tlm_generic_payload& payload, Bytes size);

/// True when the payload carries MemoryAttributes with timing_only set.
bool is_timing_only(const tlm::tlm_generic_payload& payload);

/// Copies between the payload's data and `memory` (the target's byte at the payload's address), honouring byte enables.
/// Does nothing for timing_only payloads and TLM_IGNORE_COMMAND.
void move_data(tlm::tlm_generic_payload& payload, std::byte* memory);

}  // namespace lacuna
