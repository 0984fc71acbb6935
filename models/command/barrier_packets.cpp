#include "models/command/barrier_packets.h"

#include <fmt/format.h>

#include <utility>

#include "include/lacuna/abi/gpu_registers.h"

namespace lacuna {

namespace {

bool fulfilled(std::int64_t signal, const hsa::BarrierValuePacket& packet) {
  const std::int64_t masked = signal & packet.mask;
  switch (static_cast<hsa::SignalCondition>(packet.condition)) {
    case hsa::SignalCondition::equal:
      return masked == packet.value;
    case hsa::SignalCondition::not_equal:
      return masked != packet.value;
    case hsa::SignalCondition::less:
      return masked < packet.value;
    default:
      return masked >= packet.value;
  }
}

}  // namespace

std::optional<PacketOutcome> check_barrier(const Signals& signals, hsa::PacketType type, const hsa::BarrierPacket& packet) {
  bool all = true;
  bool any = false;
  bool used = false;
  for (const std::uint64_t handle : packet.dependencies) {
    if (handle == 0) continue;
    if (auto refusal = signals.check(handle)) return PacketOutcome::refused(std::move(*refusal));
    const bool zero = signals.value(handle) == 0;
    used = true;
    all &= zero;
    any |= zero;
  }
  if (auto refusal = signals.check(packet.completion_signal)) return PacketOutcome::refused(std::move(*refusal));
  const bool satisfied = type == hsa::PacketType::barrier_and ? all : any || !used;
  if (!satisfied) return PacketOutcome::poll("dependency signals of a barrier packet");
  return std::nullopt;
}

std::optional<PacketOutcome> check_barrier_value(const Signals& signals, const hsa::BarrierValuePacket& packet) {
  for (const std::uint64_t handle : {packet.signal, packet.completion_signal}) {
    if (auto refusal = signals.check(handle)) return PacketOutcome::refused(std::move(*refusal));
  }
  if (packet.condition > static_cast<std::uint32_t>(hsa::SignalCondition::greater_equal)) {
    return PacketOutcome::refused(LACUNA_QUEUE_ERROR_PACKET_TYPE,
                                  fmt::format("barrier-value packet with unknown condition {}", packet.condition));
  }
  if (packet.signal != 0 && !fulfilled(signals.value(packet.signal), packet)) {
    return PacketOutcome::poll("the signal of a barrier-value packet");
  }
  return std::nullopt;
}

}  // namespace lacuna
