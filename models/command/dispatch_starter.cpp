#include "models/command/dispatch_starter.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "models/command/timed_access.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

PacketOutcome DispatchStarter::start(unsigned slot, const std::byte* raw, hsa::PacketHeader header) {
  QueueSlot& queue = context_.queues[slot];
  const PacketProcessorParameters& parameters = context_.parameters;
  if (queue.in_flight.size() >= parameters.dispatches_in_flight) {
    return PacketOutcome::idle("the limit of dispatches in flight is reached (cp.dispatches_in_flight)");
  }
  auto dispatch = std::make_unique<Dispatch>();
  std::memcpy(&dispatch->packet, raw, sizeof dispatch->packet);
  const hsa::Queue& aql = *context_.queues.memory(queue);
  if (auto outcome = prepare(*dispatch, slot, aql)) return std::move(*outcome);
  const bool lent = dispatch->scratch.wave_bytes > 0 && (aql.queue_properties & hsa::kUseScratchOnce) != 0;

  const std::uint64_t generation = queue.generation;
  const bool timed = context_.mode != TimingMode::functional;
  if (timed) {
    access_memory(context_.port, context_.vm, dispatch->packet_address, hsa::kPacketBytes, false);
    access_memory(context_.port, context_.vm, dispatch->packet.kernel_object, hsa::KernelDescriptor::kBytes, false);
    for (const DispatchObject& object : dispatch->objects)
      access_memory(context_.port, context_.vm, object.address, object.bytes, false);
  }
  sc_core::wait(to_sc_time(context_.clock.ticks(parameters.packet_latency + parameters.start_phase)));
  context_.fences.acquire(header.acquire());
  if (parameters.flush_before_dispatch) context_.fences.flush();
  dispatch->start = kernel_time();
  if (timed) sc_core::wait(to_sc_time(context_.clock.ticks(parameters.launch_latency)));
  // Time has passed: the queue may have been destroyed, created again or suspended.
  if (!queue.active_since(generation)) return PacketOutcome::progress();
  if (queue.suspended) return PacketOutcome::idle();

  dispatch->index = next_index_++;
  if (parameters.cold_dispatch) context_.fences.make_cold(*dispatch);
  context_.recorder.started(*dispatch);
  Dispatch& started = *dispatch;
  queue.in_flight.push_back({.index = queue.next,
                             .completion_signal = started.packet.completion_signal,
                             .release = header.release(),
                             .dispatch = std::move(dispatch),
                             .started = started.start,
                             .wall_start = host_seconds()});
  ++queue.next;
  if (lent) queue.scratch = QueueSlot::Scratch::lent;
  ++context_.statistics.dispatches;
  launch(started);
  return PacketOutcome::progress();
}

// Checks the packet before the dispatch takes effect, and requests scratch memory if the queue has too little.
std::optional<PacketOutcome> DispatchStarter::prepare(Dispatch& dispatch, unsigned slot, const hsa::Queue& aql) {
  QueueSlot& queue = context_.queues[slot];
  if (dispatch.private_bytes() > aql.scratch_wave64_lane_byte_size) {
    if (auto outcome = context_.scratch.request(queue, aql)) return outcome;
  }
  queue.scratch = QueueSlot::Scratch::settled;
  dispatch.queue_slot = slot;
  dispatch.packet_index = queue.next;
  dispatch.packet_address = queue.packet_address(queue.next);
  dispatch.queue_address = queue.address;
  dispatch.priority = queue.priority;
  dispatch.cu_mask = queue.cu_mask;
  dispatch.may_sync_grid = context_.queues.has_gws(slot);
  if (auto refusal = context_.reader.read(dispatch, aql)) return PacketOutcome::refused(std::move(*refusal));
  if (const std::string reason = context_.dispatcher.refusal(dispatch); !reason.empty()) {
    return PacketOutcome::refused(LACUNA_QUEUE_ERROR_PACKET_SEGMENT, fmt::format("kernel {}: {}", dispatch.kernel, reason));
  }
  if (auto refusal = context_.signals.check(dispatch.packet.completion_signal)) {
    return PacketOutcome::refused(std::move(*refusal));
  }
  return std::nullopt;
}

void DispatchStarter::launch(Dispatch& dispatch) {
  if (context_.parameters.instant_blits && context_.blits.perform(dispatch)) {
    ++context_.statistics.blits;
    dispatch.next_workgroup = dispatch.finished_workgroups = dispatch.total_workgroups();
    dispatch.end = kernel_time();
    context_.listener.dispatch_done(dispatch);
  } else if (context_.bulk.take(dispatch)) {
    ++context_.statistics.bulk_blits;
  } else {
    context_.bulk.others_begin();
    context_.dispatcher.submit(dispatch);
  }
}

}  // namespace lacuna
