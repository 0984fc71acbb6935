// Global wave sync: DS instructions by which wavefronts of a whole grid synchronise. They name one of 64 resources of the
// device, each a barrier or a semaphore; the executor reports the request, and the owner of the wavefront performs it.
#pragma once

#include <cstdint>

#include "models/isa/wavefront.h"

namespace lacuna::isa {

enum class WaveSync : std::uint8_t { init, barrier, semaphore_v, semaphore_add, semaphore_p, semaphore_release_all };

/// Request of a ds_gws_* instruction, decoded from event_value and sync_value of Event::wave_sync.
struct WaveSyncRequest {
  WaveSync operation;
  unsigned resource;    ///< 0 to 63
  std::uint32_t value;  ///< init, barrier, semaphore_add: value of the first active lane
};
inline WaveSyncRequest wave_sync_request(const Wavefront& w) {
  return {static_cast<WaveSync>(w.event_value >> 8), w.event_value & 0x3f, w.sync_value};
}

template <WaveSync kOperation>
void execute_wave_sync(const Instruction& i, Wavefront& w);

}  // namespace lacuna::isa
