// Forwards notifications of one GPU (interrupts, faults, traps) to the events of the program.
#pragma once

#include <hsakmttypes.h>
#include <functional>
#include <utility>

#include "drivers/rocm/events.h"
#include "drivers/rocm/runtime_symbols.h"
#include "models/command/driver_events.h"
#include "models/sdma/sdma_engine.h"

namespace lacuna::rocm {

class GpuEvents : public DriverEvents, public SdmaListener {
 public:
  /// `wake` is called on the simulation thread after each change that a thread of the program may wait for.
  GpuEvents(HSAuint32 node, Events& events, const RuntimeSymbols& symbols, std::function<void()> wake)
      : node_(node), events_(events), symbols_(symbols), wake_(std::move(wake)) {}

  void progress_visible() override { wake_(); }
  void signal_event(std::uint32_t event_id, std::uint64_t mailbox) override;
  void message_interrupt(std::uint32_t m0) override;
  bool memory_fault(unsigned slot, const WavefrontFault& fault) override;
  void queue_failed(unsigned slot, std::uint32_t error) override;
  std::optional<CodeSymbol> function(std::uint64_t pc) override { return symbols_.function(pc); }
  void sdma_trap(std::uint32_t queue, std::uint32_t context, Tick at) override;
  void sdma_fault(const SdmaFault& fault, Tick at) override;

 private:
  bool tell(std::uint32_t code, std::uint64_t address, bool write);

  HSAuint32 node_;
  Events& events_;
  const RuntimeSymbols& symbols_;
  std::function<void()> wake_;
};

}  // namespace lacuna::rocm
