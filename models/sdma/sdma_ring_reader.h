// Packet fetch of an SDMA engine: the words of a queue's next packet, from its ring or from an indirect buffer.
//
// Software may announce a packet in parts: it is fetched when its last word has been announced. The ring is read ahead by
// memory requests of `request_bytes`, which the engine waits for; words of indirect buffers take no time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sdma/sdma_memory.h"
#include "models/sdma/sdma_notifier.h"
#include "models/sdma/sdma_packets.h"
#include "models/sdma/sdma_parameters.h"
#include "models/sdma/sdma_queue.h"
#include "models/sdma/sdma_timeline.h"

namespace lacuna {

class SdmaRingReader {
 public:
  SdmaRingReader(const SdmaParameters& parameters, const sdma::Format& format, SdmaMemory& memory, SdmaTimeline& timeline,
                 SdmaNotifier& notifier)
      : parameters_(parameters), format_(format), memory_(memory), timeline_(timeline), notifier_(notifier) {}

  enum class Fetched : std::uint8_t {
    nothing,  ///< no complete packet has been announced
    packet,   ///< the packet is in words()
    stopped   ///< the queue was stopped: ring or buffer is not mapped, or the packet does not fit
  };
  /// Fetches the queue's next packet.
  Fetched fetch(SdmaQueue& queue);
  /// Words of the packet that fetch() fetched last.
  std::span<const std::uint32_t> words() const { return words_; }

 private:
  bool prefetch(SdmaQueue& queue, std::uint64_t bytes);

  const SdmaParameters& parameters_;
  const sdma::Format& format_;
  SdmaMemory& memory_;
  SdmaTimeline& timeline_;
  SdmaNotifier& notifier_;
  std::vector<std::uint32_t> words_;
};

}  // namespace lacuna
