// Packets that need no compute unit: barriers, barrier values, PM4 commands in a ring slot (gfx8) or in an indirect buffer
// (gfx9), and packets of engines (models/command/packet_engine.h).
//
// A start_...() function first checks the packet and its signals, which takes no time. If the packet may start, the calling
// SC_THREAD then waits for the cache maintenance of its PM4 commands, cp.packet_latency and its acquire fence. The function
// returns PacketOutcome::Kind::completed, with the packet at the back of QueueSlot::in_flight, or progress if the queue was
// removed or failed in the meantime.
#pragma once

#include "include/lacuna/abi/hsa.h"
#include "models/command/fences.h"
#include "models/command/packet_engine.h"
#include "models/command/packet_outcome.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/pm4.h"
#include "models/command/queue.h"
#include "models/command/signals.h"

namespace lacuna {

struct ControlPacketsContext {
  Clock clock;
  Cycles packet_latency;
  const GpuVm& vm;
  const Signals& signals;
  Fences& fences;
  PacketProcessorStatistics& statistics;  ///< its barriers and pm4_packets are incremented
};

class ControlPackets {
 public:
  explicit ControlPackets(const ControlPacketsContext& context) : context_(context), pm4_(context.vm) {}

  /// Starts a barrier packet. `raw`: the packet QueueSlot::next, 64 bytes.
  PacketOutcome start_barrier(QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header);
  /// Starts a vendor-specific packet. `raw`: the packet QueueSlot::next, 64 bytes.
  PacketOutcome start_vendor_specific(QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header);
  /// Starts a packet that an engine executes. `raw`: the packet QueueSlot::next, 64 bytes. Returns progress if the engine has
  /// accepted the packet, or if the queue was removed or failed in the meantime.
  PacketOutcome start_on_engine(unsigned slot, QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header,
                                PacketEngine& engine);
  /// Executes a ring slot of PM4 commands, which have no header and no completion signal. `raw`: the slot QueueSlot::next, 64
  /// bytes.
  PacketOutcome start_pm4(QueueSlot& queue, const std::byte* raw);

 private:
  PacketOutcome start_pm4(QueueSlot& queue, const Pm4Actions& actions, hsa::PacketHeader header,
                          std::uint64_t completion_signal);
  PacketOutcome execute(QueueSlot& queue, hsa::PacketHeader header, std::uint64_t completion_signal,
                        const PacketEngine* engine = nullptr);

  ControlPacketsContext context_;
  Pm4Reader pm4_;
};

}  // namespace lacuna
