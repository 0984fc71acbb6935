// What a driver in the device's own process learns from it directly, beside the registers and the interrupt line.
//
// All calls come from simulation processes, at the kernel's time or up to a window before the event's own; they must not wait.
#pragma once

#include <cstdint>
#include <optional>

#include "models/command/kernel_symbols.h"
#include "models/compute/compute_unit_listener.h"

namespace lacuna {

class DriverEvents {
 public:
  virtual ~DriverEvents() = default;
  /// The command processor has stored `event_id` to `mailbox` (GPU virtual address) of a signal: wake who waits for the event.
  virtual void signal_event(std::uint32_t event_id, std::uint64_t mailbox) = 0;
  /// The command processor has changed what the host may read repeatedly: the value of a signal, with or without an event, or
  /// the read index of a queue.
  virtual void progress_visible() {}
  /// A kernel sent MSG_INTERRUPT. M0 holds no more than 8 bits of the event's id; the id itself is in the event's mailbox, so
  /// that all mailboxes have to be looked at.
  virtual void message_interrupt(std::uint32_t m0) = 0;
  /// A wavefront of queue `slot` touched memory that is not mapped or not permitted. True: the driver tells the runtime of it;
  /// then the queue stops without a word in its inactive signal. False: the queue's inactive signal tells.
  virtual bool memory_fault(unsigned slot, const WavefrontFault& fault) = 0;
  /// Queue `slot` has gone to the failed state with LACUNA_QUEUE_ERROR_* `error`; its inactive signal is written by now.
  virtual void queue_failed(unsigned slot, std::uint32_t error) = 0;
  /// Asked for reports: the function that the instruction at `pc` belongs to. The driver may know more than GPU memory holds.
  virtual std::optional<CodeSymbol> function(std::uint64_t /*pc*/) { return std::nullopt; }
};

}  // namespace lacuna
