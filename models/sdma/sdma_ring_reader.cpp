#include "models/sdma/sdma_ring_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "include/lacuna/abi/gpu_registers.h"

namespace lacuna {

SdmaRingReader::Fetched SdmaRingReader::fetch(SdmaQueue& queue) {
  const std::uint64_t available = queue.available_words();
  if (available == 0) {
    queue.waiting_for = "";
    return Fetched::nothing;
  }
  const SdmaQueueDescription& ring = queue.description;
  const std::uint64_t base = queue.buffer ? queue.buffer->address : ring.ring;
  const std::uint64_t bytes = queue.buffer ? queue.buffer->words * 4 : ring.ring_bytes;
  const std::byte* memory_at = memory_.vm().pointer(base, bytes, isa::Access::read);
  if (memory_at == nullptr) {
    notifier_.stop(
        queue, {.code = LACUNA_FAULT_NOT_MAPPED,
                .address = base,
                .text = fmt::format("{} at {:#x}, {} bytes, is not mapped; {}", queue.buffer ? "indirect buffer" : "ring", base,
                                    bytes, memory_.vm().nearest(base))});
    return Fetched::stopped;
  }
  const std::uint64_t first = queue.buffer ? queue.buffer->next * 4 : queue.read;
  const auto read = [&](std::uint64_t count) {
    words_.resize(count);
    const std::uint64_t offset = first & (std::bit_ceil(bytes) - 1);
    const std::uint64_t before_end = std::min(count * 4, bytes - offset);
    std::memcpy(words_.data(), memory_at + offset, before_end);
    std::memcpy(reinterpret_cast<std::byte*>(words_.data()) + before_end, memory_at, count * 4 - before_end);
  };
  read(std::min<std::uint64_t>(available, sdma::kLongestHeader));
  const std::optional<std::uint64_t> length = sdma::words(words_, format_);
  if (length && *length <= available) {
    read(*length);
  } else if (queue.buffer || (length && *length * 4 > ring.ring_bytes)) {
    notifier_.stop(queue, fmt::format("packet of {} words, the {} ends after {}", length.value_or(available + 1),
                                      queue.buffer ? "indirect buffer" : "ring", available));
    return Fetched::stopped;
  } else {
    queue.waiting_for = "the rest of a packet";
    return Fetched::nothing;
  }
  const bool ahead = queue.buffer || queue.read + *length * 4 <= queue.prefetched;
  if (ahead || memory_.mode() == TimingMode::functional || prefetch(queue, *length * 4)) return Fetched::packet;
  return Fetched::stopped;
}

// Reads the ring ahead. One request represents all lines of the packet.
bool SdmaRingReader::prefetch(SdmaQueue& queue, std::uint64_t bytes) {
  const std::uint64_t request = parameters_.request_bytes;
  const std::uint64_t line = queue.read & ~(request - 1);
  queue.prefetched = line + ((bytes + queue.read - line + request - 1) & ~(request - 1));
  const std::uint64_t address = queue.description.ring + (line & (queue.description.ring_bytes - 1));
  const std::optional<isa::MemoryWindow> mapped = memory_.window(queue, address, request, false);
  if (!mapped) return false;
  const std::optional<Tick> done = memory_.access(queue, *mapped, address, request, false, timeline_.at());
  if (!done) return false;
  timeline_.advance_to(*done);
  return true;
}

}  // namespace lacuna
