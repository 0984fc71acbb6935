// Notifications from the packet processor to software: completion signals, inactive signals, interrupts, and the events of a
// driver in this process.
//
// A change of a signal that has an event mailbox raises LACUNA_INTERRUPT_SIGNAL and calls DriverEvents::signal_event().
// Registers and the interrupt line are the device's (InterruptSink); a driver in this process (DriverEvents) is notified in
// addition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "include/lacuna/abi/hsa.h"
#include "models/command/driver_events.h"
#include "models/command/packet_processor_parameters.h"
#include "models/command/signals.h"
#include "models/compute/compute_unit.h"

namespace lacuna {

/// Implemented by the device: raises interrupts and fills the fault registers.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  virtual void raise(std::uint32_t interrupts, Tick at) = 0;
  virtual void record_fault(std::uint32_t queue_slot, const WavefrontFault& fault) = 0;
};

struct HostNotifierContext {
  std::string owner;  ///< name in messages
  const GpuVm& vm;
  const Signals& signals;
  Clock timestamp;
  InterruptSink& interrupts;
  PacketProcessorStatistics& statistics;  ///< its signals and events are incremented
};

class HostNotifier {
 public:
  explicit HostNotifier(HostNotifierContext context) : context_(std::move(context)) {}

  /// Sets the driver. Until then only registers and interrupts are used.
  void set_driver_events(DriverEvents& driver) { driver_ = &driver; }

  /// Completes the signal of a packet that ran from `start` to `end`: time stamps, then the decrement, then the event. An
  /// invalid handle is logged as a guest error.
  void complete_signal(std::uint64_t handle, Tick start, Tick end);
  /// Stores a value to the queue's inactive signal. False if the queue has none or `aql` is null; nothing is stored then.
  bool store_inactive_signal(const hsa::Queue* aql, std::int64_t value);
  /// Reports that a queue's read index has changed.
  void read_index_changed();
  /// Reports that a kernel has sent MSG_INTERRUPT. `m0`: value of the wavefront's M0.
  void message_interrupt(std::uint32_t m0, Tick at);
  /// Records a code fault that was found before the dispatch started, in the fault registers only.
  void record_illegal_instruction(unsigned slot, std::uint64_t pc);
  /// Reports a wavefront's fault: registers, interrupt, and for memory faults the driver. True if the driver reports it to the
  /// runtime; the queue's inactive signal must not report it then.
  bool wavefront_fault(unsigned slot, const WavefrontFault& fault);
  /// Reports that a queue has failed with LACUNA_QUEUE_ERROR_* `error`. `store_error`: its inactive signal (`aql` as for
  /// store_inactive_signal()) receives the code that AMD's runtime expects.
  void queue_failed(unsigned slot, const hsa::Queue* aql, std::uint32_t error, bool store_error);

 private:
  void value_changed(const std::optional<SignalEvent>& event);

  HostNotifierContext context_;
  DriverEvents* driver_ = nullptr;
};

/// The LACUNA_QUEUE_ERROR_* of a queue whose wavefront had a fault LACUNA_FAULT_*.
std::uint32_t queue_error_of_fault(std::uint32_t fault);

}  // namespace lacuna
