// Signals in memory (amd_signal_t), as the packet processor uses them.
//
// Host threads may wait for a signal's value concurrently: values are read with acquire and written with release order, and a
// decrement is one atomic operation.
#pragma once

#include <cstdint>
#include <optional>

#include "include/lacuna/abi/hsa.h"
#include "models/command/packet_outcome.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// The event of a signal: threads may sleep until it is set.
struct SignalEvent {
  std::uint32_t id = 0;
  std::uint64_t mailbox = 0;  ///< GPU virtual address to which the id has been stored
};

class Signals {
 public:
  explicit Signals(const GpuVm& vm) : vm_(vm) {}

  /// Whether a handle is the address of a mapped, 64-byte aligned amd_signal_t.
  bool valid(std::uint64_t handle) const { return find(handle) != nullptr; }
  /// Checks a packet's reference to a signal: LACUNA_QUEUE_ERROR_SIGNAL if the handle is neither 0 nor valid.
  std::optional<PacketRefusal> check(std::uint64_t handle) const;
  /// Value of a signal, which must be valid.
  std::int64_t value(std::uint64_t handle) const;
  /// Writes the time stamps (ticks of the timestamp clock), decrements the value, then posts the event if the signal has one.
  /// Does nothing if the signal is not valid.
  std::optional<SignalEvent> complete(std::uint64_t handle, std::uint64_t start, std::uint64_t end) const;
  /// Stores a value, then posts the event if the signal has one. Does nothing if the signal is not valid.
  std::optional<SignalEvent> store(std::uint64_t handle, std::int64_t value) const;

 private:
  hsa::Signal* find(std::uint64_t handle) const;
  std::optional<SignalEvent> post(const SignalEvent& event) const;

  const GpuVm& vm_;
};

}  // namespace lacuna
