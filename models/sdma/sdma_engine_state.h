// Private to the SDMA engine's own files: what it knows of a queue.
#pragma once

#include <atomic>
#include <optional>

#include "models/sdma/sdma_engine.h"

namespace lacuna {

struct SdmaEngine::Queue {
  struct IndirectBuffer {
    std::uint64_t address = 0;
    std::uint64_t words = 0;
    std::uint64_t next = 0;  ///< word
  };

  std::uint32_t id = 0;
  SdmaQueueDescription description;
  bool alive = true;
  bool suspended = false;
  bool stopped = false;
  std::uint64_t read = 0;     ///< bytes carried out since creation
  std::uint64_t written = 0;  ///< bytes announced since creation
  std::uint64_t fetched = 0;  ///< bytes up to which the ring has been read ahead
  std::optional<IndirectBuffer> buffer;
  Tick done{};  ///< all data of the packets so far are in memory
  bool waits_for_memory = false;
  unsigned looks = 0;  ///< of the POLL_REGMEM at hand
  Tick next_look{};
  const char* waiting_for = "";  ///< for diagnosis

  /// Copied in bulk, and not yet to be seen in caches and TLBs: packets that follow each other mostly go on with a copy.
  CopiedRange unseen{.bytes = 0};

  void leave(CopyContext& context, const CopiedRange& range) {
    const bool goes_on = unseen.bytes != 0 && unseen.has_source == range.has_source &&
                         unseen.destination + unseen.bytes == range.destination &&
                         (!range.has_source || unseen.source + unseen.bytes == range.source);
    if (!goes_on) {
      settle(&context);
      unseen = range;
    } else {
      unseen.bytes += range.bytes;
    }
  }
  void settle(CopyContext* context) {
    if (unseen.bytes != 0) context->leave(unseen, false);
    unseen.bytes = 0;
  }
  std::uint64_t available_words() const { return buffer ? buffer->words - buffer->next : (written - read) / 4; }
};

/// Memory that host threads and other engines look at meanwhile.
template <class T>
T load_shared(const std::byte* at) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(at))).load(std::memory_order_acquire);
}
template <class T>
void store_shared(std::byte* at, T value) {
  std::atomic_ref<T>(*reinterpret_cast<T*>(at)).store(value, std::memory_order_release);
}

}  // namespace lacuna
