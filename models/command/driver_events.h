// Events for a driver in the same process as the device, in addition to the registers and the interrupt line.
//
// All functions are called by simulation processes, at the event's time or up to a window before it; they must not wait.
#pragma once

#include <cstdint>
#include <optional>

#include "models/command/kernel_symbols.h"
#include "models/compute/compute_unit_listener.h"

namespace lacuna {

class DriverEvents {
 public:
  virtual ~DriverEvents() = default;
  /// The command processor has stored `event_id` to `mailbox` (GPU virtual address) of a signal: the driver must wake the
  /// threads that wait for the event.
  virtual void signal_event(std::uint32_t event_id, std::uint64_t mailbox) = 0;
  /// The command processor has changed a value that the host may poll: the value of a signal, with or without an event, or the
  /// read index of a queue.
  virtual void progress_visible() {}
  /// A kernel sent MSG_INTERRUPT. M0 holds only 8 bits of the event's id; the full id is in the event's mailbox, so all
  /// mailboxes must be searched.
  virtual void message_interrupt(std::uint32_t m0) = 0;
  /// A wavefront of queue `slot` accessed memory that is not mapped or lacks permission. True: the driver reports it to the
  /// runtime, and the queue's inactive signal is not written. False: the queue's inactive signal reports it.
  virtual bool memory_fault(unsigned slot, const WavefrontFault& fault) = 0;
  /// Queue `slot` has failed with LACUNA_QUEUE_ERROR_* `error`. Its inactive signal, if it has one, has been written, unless
  /// memory_fault() has returned true.
  virtual void queue_failed(unsigned slot, std::uint32_t error) = 0;
  /// The function that contains the instruction at `pc`, for reports. The driver may know functions that are not in GPU memory.
  virtual std::optional<CodeSymbol> function(std::uint64_t /*pc*/) { return std::nullopt; }
};

}  // namespace lacuna
