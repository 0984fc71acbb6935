// One hardware queue slot and what the packet processor knows of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/time/units.h"
#include "models/compute/dispatch.h"

namespace lacuna {

/// How the packet processor learns that packets have been written.
enum class DoorbellKind : std::uint8_t {
  ring,          ///< by ring() only: a doorbell register of the device
  legacy_index,  ///< from amd_queue_t.max_legacy_doorbell_dispatch_id_plus_1 (doorbell type 1), at look_at_doorbells()
  write_index    ///< from amd_queue_t.write_dispatch_id (doorbell type 2) and the packets' headers, likewise
};

/// What the creator of a queue chooses beside the amd_queue_t.
struct QueueSetup {
  DoorbellKind doorbell = DoorbellKind::ring;
  /// Larger goes first, both for packets and for places on compute units; among equals it is the other queues' turn.
  int priority = 0;
  /// Bit i: compute unit i / arrays of shader array i % arrays, as drivers number them. Empty: all. No bit set: refused.
  std::vector<std::uint32_t> cu_mask;
};

/// For wall times in reports.
inline double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A packet that has been started and not yet retired.
struct InFlightPacket {
  std::uint64_t index = 0;
  bool done = false;
  std::uint64_t completion_signal = 0;
  hsa::FenceScope release = hsa::FenceScope::none;
  std::unique_ptr<Dispatch> dispatch;  ///< null for all but kernel dispatches
  Tick started{};
  double wall_start = 0;  ///< host_seconds(), for reports only
};

struct QueueSlot {
  enum class State : std::uint8_t { inactive, active, failed };
  /// How far the queue is with scratch memory that the runtime gives it when it is asked.
  enum class Scratch : std::uint8_t {
    settled,
    requested,  ///< the runtime has been asked for more
    granted,    ///< it has answered; the packet that wanted more has not been tried again
    lent,       ///< a dispatch runs in memory that has to be given back after it
    reclaimed   ///< the runtime has been asked to take it back
  };

  State state = State::inactive;
  bool suspended = false;
  bool polls = false;  ///< the next packet waits for memory to be changed by somebody else
  Scratch scratch = Scratch::settled;
  DoorbellKind doorbell = DoorbellKind::ring;
  int priority = 0;
  std::vector<std::uint32_t> cu_mask;
  std::uint64_t generation = 0;  ///< of creations in any slot: tells a queue from a later one in the same slot
  std::uint64_t address = 0;     ///< GPU virtual address of the amd_queue_t
  /// The ring as it was when the queue was created: hardware has it in registers of its own (CP_HQD_PQ_BASE, _CONTROL), which a
  /// program that writes to its amd_queue_t does not reach.
  std::uint64_t ring = 0;     ///< GPU virtual address of packet 0
  std::uint32_t size = 0;     ///< packets, a power of two
  std::uint64_t next = 0;     ///< index of the next packet to start
  std::uint64_t retired = 0;  ///< packets before this index are retired: the read index
  std::uint64_t rung = 0;     ///< packets before this index were announced by the doorbell
  std::deque<InFlightPacket> in_flight;
  std::uint32_t error = LACUNA_QUEUE_ERROR_NONE;
  std::uint64_t error_packet = 0;
  const char* waiting_for = "";  ///< for diagnosis: why `next` has not started

  /// GPU virtual address of a packet.
  std::uint64_t place(std::uint64_t index) const { return ring + (index & (size - 1)) * hsa::kPacketBytes; }
};

}  // namespace lacuna
