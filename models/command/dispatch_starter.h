// Start of kernel dispatch packets: from a packet in a ring slot to a running Dispatch.
//
// start() first checks the packet, its kernel and its signals (DispatchPacketReader, Dispatcher::refusal), and requests scratch
// memory from the runtime if the queue has too little; this takes no time. Then, in the calling SC_THREAD:
//
//   reads | cp.packet_latency + gpu.start_phase | acquire fence | cp.launch_latency | submit
//                                               Dispatch::start ^
// Reads: packet, kernel descriptor, Dispatch::objects.
//
// A dispatch goes to the dispatcher, or to the bulk blits if it is a large copy or fill of the runtime; with cp.instant_blits
// blits are done immediately. In TimingMode::functional, memory accesses, cache maintenance and cp.launch_latency take no time.
#pragma once

#include <cstdint>

#include "models/command/blits.h"
#include "models/command/bulk_blits.h"
#include "models/command/dispatch_packet.h"
#include "models/command/dispatcher.h"
#include "models/command/fences.h"
#include "models/command/kernel_recorder.h"
#include "models/command/packet_outcome.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/queue_table.h"
#include "models/command/scratch_requests.h"
#include "models/command/signals.h"
#include "models/common/transport/timing_port.h"

namespace lacuna {

struct DispatchStarterContext {
  const PacketProcessorParameters& parameters;
  Clock clock;
  TimingMode mode;
  const GpuVm& vm;
  QueueTable& queues;
  const Signals& signals;
  DispatchPacketReader& reader;
  ScratchRequests& scratch;
  Fences& fences;
  TimingPort& port;
  Dispatcher& dispatcher;
  const Blits& blits;
  BulkBlits& bulk;
  KernelRecorder& recorder;
  DispatchListener& listener;             ///< notified of instant blits
  PacketProcessorStatistics& statistics;  ///< its dispatches, blits and bulk_blits are incremented
};

class DispatchStarter {
 public:
  explicit DispatchStarter(const DispatchStarterContext& context) : context_(context) {}

  /// Starts packet QueueSlot::next, whose 64 bytes are at `raw`, of an active queue that is not suspended. Progress: the
  /// dispatch has started, scratch memory has been requested, or the queue was removed or failed in the meantime. Idle:
  /// cp.dispatches_in_flight is reached, a request for scratch memory must wait for earlier packets, or the queue was suspended
  /// in the meantime. Refused: the packet has an error.
  PacketOutcome start(unsigned slot, const std::byte* raw, hsa::PacketHeader header);

 private:
  std::optional<PacketOutcome> prepare(Dispatch& dispatch, unsigned slot, const hsa::Queue& aql);
  void launch(Dispatch& dispatch);

  DispatchStarterContext context_;
  std::uint64_t next_index_ = 0;
};

}  // namespace lacuna
