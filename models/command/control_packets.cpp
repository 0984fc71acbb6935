#include "models/command/control_packets.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "models/command/barrier_packets.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

PacketOutcome ControlPackets::start_barrier(QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header) {
  hsa::BarrierPacket packet;
  std::memcpy(&packet, raw, sizeof packet);
  if (auto outcome = check_barrier(context_.signals, header.type(), packet)) return std::move(*outcome);
  ++context_.statistics.barriers;
  return execute(queue, header, packet.completion_signal);
}

PacketOutcome ControlPackets::start_vendor_specific(QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header) {
  const auto format = static_cast<hsa::VendorFormat>(raw[2]);
  if (format == hsa::VendorFormat::barrier_value) {
    hsa::BarrierValuePacket packet;
    std::memcpy(&packet, raw, sizeof packet);
    if (auto outcome = check_barrier_value(context_.signals, packet)) return std::move(*outcome);
    ++context_.statistics.barriers;
    return execute(queue, header, packet.completion_signal);
  }
  if (format == hsa::VendorFormat::pm4_indirect_buffer) {
    hsa::BarrierPacket packet;  // completion_signal has the same offset in every packet type
    std::memcpy(&packet, raw, sizeof packet);
    return start_pm4(queue, pm4_.read_vendor_packet(raw), header, packet.completion_signal);
  }
  return PacketOutcome::refused(LACUNA_QUEUE_ERROR_PACKET_TYPE,
                                fmt::format("vendor-specific packet of unknown format {}", static_cast<unsigned>(format)));
}

PacketOutcome ControlPackets::start_pm4(QueueSlot& queue, const std::byte* raw) {
  return start_pm4(queue, pm4_.read_slot(raw), {}, 0);
}

PacketOutcome ControlPackets::start_pm4(QueueSlot& queue, const Pm4Actions& actions, hsa::PacketHeader header,
                                        std::uint64_t completion_signal) {
  if (!actions.error.empty()) return PacketOutcome::refused(LACUNA_QUEUE_ERROR_PACKET_TYPE, actions.error);
  if (auto refusal = context_.signals.check(completion_signal)) return PacketOutcome::refused(std::move(*refusal));
  const std::uint64_t generation = queue.generation;
  context_.fences.maintain(actions);
  if (queue.generation != generation) return PacketOutcome::progress();
  ++context_.statistics.pm4_packets;
  return execute(queue, header, completion_signal);
}

PacketOutcome ControlPackets::start_on_engine(unsigned slot, QueueSlot& queue, const std::byte* raw, hsa::PacketHeader header,
                                              PacketEngine& engine) {
  // Copied, so that exactly the checked packet starts even if the ring slot is overwritten in the meantime.
  hsa::BarrierPacket packet;  // completion_signal has the same offset in every packet type
  std::memcpy(&packet, raw, sizeof packet);
  const auto* const copy = reinterpret_cast<const std::byte*>(&packet);
  if (auto refusal = context_.signals.check(packet.completion_signal)) return PacketOutcome::refused(std::move(*refusal));
  if (auto refusal = engine.check(copy)) return PacketOutcome::refused(std::move(*refusal));
  const std::uint64_t index = queue.next;
  PacketOutcome outcome = execute(queue, header, packet.completion_signal, &engine);
  if (outcome.kind != PacketOutcome::Kind::completed) return outcome;
  engine.start(copy, {.slot = slot, .index = index});
  return PacketOutcome::progress();
}

PacketOutcome ControlPackets::execute(QueueSlot& queue, hsa::PacketHeader header, std::uint64_t completion_signal,
                                      const PacketEngine* engine) {
  const std::uint64_t generation = queue.generation;
  const std::uint64_t index = queue.next;
  const bool past_l2 = engine != nullptr && engine->bypasses_l2();
  const Tick phase = engine != nullptr ? engine->start_phase() : Tick{};
  sc_core::wait(to_sc_time(context_.clock.ticks(context_.packet_latency) + phase));
  context_.fences.acquire(header.acquire(), past_l2);
  if (!queue.active_since(generation)) return PacketOutcome::progress();
  queue.in_flight.push_back({.index = index,
                             .completion_signal = completion_signal,
                             .release = header.release(),
                             .past_l2 = past_l2,
                             .dispatch = nullptr,
                             .started = kernel_time()});
  ++queue.next;
  return PacketOutcome::completed();
}

}  // namespace lacuna
