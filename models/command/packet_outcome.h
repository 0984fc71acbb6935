// Outcome of a look at a queue's next packet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace lacuna {

/// Why a packet cannot be carried out.
struct PacketRefusal {
  std::uint32_t error = 0;  ///< LACUNA_QUEUE_ERROR_*
  std::string why;
  std::uint64_t pc = 0;  ///< of the instruction that cannot be executed; 0 when the code is not the reason
};

struct PacketOutcome {
  enum class Kind : std::uint8_t {
    idle,       ///< waits for an event inside the device, which wakes the packet processor
    poll,       ///< waits until another agent changes memory: retried after the polling interval
    progress,   ///< the queue's state has changed, or the queue has gone: the queue is visited again
    completed,  ///< the packet has started, is the last of QueueSlot::in_flight, and needs no compute unit: it is complete
    refused     ///< the packet stops its queue
  };
  Kind kind = Kind::idle;
  const char* waiting_for = nullptr;  ///< of idle and poll, for diagnosis; null: as before
  PacketRefusal refusal{};            ///< of refused

  static PacketOutcome idle(const char* waiting_for = nullptr) { return {.kind = Kind::idle, .waiting_for = waiting_for}; }
  static PacketOutcome poll(const char* waiting_for) { return {.kind = Kind::poll, .waiting_for = waiting_for}; }
  static PacketOutcome progress() { return {.kind = Kind::progress}; }
  static PacketOutcome completed() { return {.kind = Kind::completed}; }
  static PacketOutcome refused(PacketRefusal refusal) { return {.kind = Kind::refused, .refusal = std::move(refusal)}; }
  static PacketOutcome refused(std::uint32_t error, std::string why) {
    return refused(PacketRefusal{.error = error, .why = std::move(why)});
  }
};

}  // namespace lacuna
