// One queue of an SDMA engine: its description by software and its state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/common/time/units.h"
#include "models/sdma/copy_context.h"

namespace lacuna {

/// Description of a new queue. Addresses are GPU virtual addresses that must be mapped.
struct SdmaQueueDescription {
  std::uint64_t ring = 0;          ///< address of the ring, 256-byte aligned
  std::uint64_t ring_bytes = 0;    ///< size of the ring, a power of two of at least 256
  std::uint64_t read_pointer = 0;  ///< address of the 8 bytes that hold the read pointer, 8-byte aligned
  std::string name;                ///< name in reports
};

struct SdmaQueue {
  struct IndirectBuffer {
    std::uint64_t address = 0;
    std::uint64_t words = 0;
    std::uint64_t next = 0;  ///< index of the next word
  };

  std::uint32_t id = 0;
  SdmaQueueDescription description;
  bool alive = true;  ///< false: destroyed while the engine waited in a packet of the queue
  bool suspended = false;
  bool stopped = false;
  std::uint64_t read = 0;        ///< bytes of packets executed since the queue's creation
  std::uint64_t written = 0;     ///< bytes of packets announced since the queue's creation
  std::uint64_t prefetched = 0;  ///< bytes of the ring that have been read ahead
  std::optional<IndirectBuffer> buffer;
  Tick done{};  ///< time at which all data of the packets so far are in memory
  bool waits_for_memory = false;
  unsigned failed_polls = 0;     ///< number of unsatisfied polls of the current POLL_REGMEM
  Tick polled{};                 ///< time at which the last poll read memory
  const char* waiting_for = "";  ///< reason for which the queue waits, for diagnosis
  /// Range copied in bulk but not yet installed in caches and TLBs, since the next packet usually continues the copy.
  CopiedRange pending{.bytes = 0};

  /// Number of words left in the current indirect buffer or, without one, in the ring.
  std::uint64_t available_words() const { return buffer ? buffer->words - buffer->next : (written - read) / 4; }
  /// Whether no packet is pending and all data are in memory at `now`.
  bool drained(Tick now) const { return available_words() == 0 && !buffer && done <= now; }
};

enum class SdmaStep : std::uint8_t {
  idle,      ///< nothing to execute
  progress,  ///< the queue's state has changed
  poll       ///< waits until another agent changes memory
};

}  // namespace lacuna
