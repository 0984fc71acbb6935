// Outcome of a visit to a queue's next packet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace lacuna {

/// Reason why a packet cannot be executed.
struct PacketRefusal {
  std::uint32_t error = 0;  ///< LACUNA_QUEUE_ERROR_*
  std::string why;
  std::uint64_t pc = 0;  ///< PC of the instruction that cannot be executed; 0 if the code is not the reason
};

struct PacketOutcome {
  enum class Kind : std::uint8_t {
    idle,       ///< waits for an event inside the device, which wakes the packet processor
    poll,       ///< waits until another agent changes memory: retried after the polling interval
    progress,   ///< the queue's state has changed, or the queue was removed: the queue is visited again
    completed,  ///< the packet needed no compute unit and is complete; it is the last of QueueSlot::in_flight
    refused     ///< the packet stops its queue
  };
  Kind kind = Kind::idle;
  const char* waiting_for = nullptr;  ///< reason for idle and poll, used in diagnosis; null: unchanged
  PacketRefusal refusal{};            ///< reason for `refused`

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
