// Conditions of barrier-AND, barrier-OR and barrier-value packets (HSA Platform System Architecture 1.2, sections 2.9.3 and
// 2.9.4; hsa_amd_barrier_value_packet_t). Signals are read once; nothing is written.
#pragma once

#include <optional>

#include "include/lacuna/abi/hsa.h"
#include "models/command/packet_outcome.h"
#include "models/command/signals.h"

namespace lacuna {

/// Returns nullopt if the packet may start: all (barrier_and) or any (barrier_or) of its dependencies are 0, or it has no
/// dependencies. Otherwise PacketOutcome::Kind::poll, or refused if a signal is invalid.
std::optional<PacketOutcome> check_barrier(const Signals& signals, hsa::PacketType type, const hsa::BarrierPacket& packet);
/// Returns nullopt if the masked signal fulfils the condition, or if the packet has no signal. Otherwise as check_barrier(); an
/// unknown condition is refused with LACUNA_QUEUE_ERROR_PACKET_TYPE.
std::optional<PacketOutcome> check_barrier_value(const Signals& signals, const hsa::BarrierValuePacket& packet);

}  // namespace lacuna
