// One hardware queue slot: state of the queue and its packets in flight.
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

/// Means by which new packets are announced to the packet processor.
enum class DoorbellKind : std::uint8_t {
  ring,          ///< announced by ring() only: a doorbell register of the device
  legacy_index,  ///< amd_queue_t.max_legacy_doorbell_dispatch_id_plus_1 (doorbell type 1), read by poll_doorbells()
  write_index    ///< amd_queue_t.write_dispatch_id (doorbell type 2) and the packets' headers, read by poll_doorbells()
};

/// Settings of a queue in addition to its amd_queue_t.
struct QueueSetup {
  DoorbellKind doorbell = DoorbellKind::ring;
  /// Queues of higher priority go first, both for packets and for placement on compute units; queues of equal priority
  /// alternate.
  int priority = 0;
  /// Bit i, as drivers number them: compute unit i / n of shader array i % n, where n is the number of shader arrays. Empty:
  /// all. No bit set: refused.
  std::vector<std::uint32_t> cu_mask;
};

enum class QueueActivity : std::uint8_t {
  idle,              ///< no packet is waiting or running
  waits_for_memory,  ///< only polls of signals and packet headers are left, which only the host can change
  busy
};

/// Host time in seconds, for wall times in reports.
inline double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A packet that has been started and not yet retired.
struct InFlightPacket {
  std::uint64_t index = 0;
  bool done = false;
  std::uint64_t completion_signal = 0;
  hsa::FenceScope release = hsa::FenceScope::none;
  bool past_l2 = false;                ///< an engine that bypasses L2 executes the packet
  std::unique_ptr<Dispatch> dispatch;  ///< null for all but kernel dispatches
  Tick started{};
  double wall_start = 0;  ///< host_seconds() at the start, for reports only
};

struct QueueSlot {
  enum class State : std::uint8_t { inactive, active, failed };
  /// Progress of a request to the runtime for scratch memory (models/command/scratch_requests.h).
  enum class Scratch : std::uint8_t {
    settled,
    requested,  ///< a request for more scratch memory has been sent to the runtime
    granted,    ///< the runtime has granted more memory; the packet that needs it has not been tried again
    lent,       ///< a dispatch uses memory that must be returned when it ends
    reclaimed   ///< a request to take the memory back has been sent to the runtime
  };

  State state = State::inactive;
  bool suspended = false;
  bool polls = false;  ///< the next packet waits until another agent changes memory
  Scratch scratch = Scratch::settled;
  DoorbellKind doorbell = DoorbellKind::ring;
  int priority = 0;
  std::vector<std::uint32_t> cu_mask;
  std::uint64_t generation = 0;  ///< sequence number of the creation, over all slots: tells apart successive queues of a slot
  std::uint64_t address = 0;     ///< GPU virtual address of the amd_queue_t
  // The ring as of the queue's creation: hardware keeps it in dedicated registers (CP_HQD_PQ_BASE, _CONTROL), which a program
  // cannot change through its amd_queue_t.
  std::uint64_t ring = 0;       ///< GPU virtual address of packet 0
  std::uint32_t size = 0;       ///< number of packets of the ring, a power of two
  std::uint64_t next = 0;       ///< index of the next packet to start
  std::uint64_t retired = 0;    ///< packets before this index are retired: the read index
  std::uint64_t announced = 0;  ///< packets before this index were announced by the doorbell
  std::deque<InFlightPacket> in_flight;
  std::uint32_t error = LACUNA_QUEUE_ERROR_NONE;
  std::uint64_t error_packet = 0;
  const char* waiting_for = "";  ///< reason why `next` has not started, for diagnosis

  /// GPU virtual address of a packet.
  std::uint64_t packet_address(std::uint64_t index) const { return ring + (index & (size - 1)) * hsa::kPacketBytes; }
  /// Whether the slot still holds the queue with generation `creation`, and the queue has not failed. Check this whenever
  /// simulated time has passed.
  bool active_since(std::uint64_t creation) const { return state == State::active && generation == creation; }
};

}  // namespace lacuna
