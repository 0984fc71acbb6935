#include "drivers/rocm/gpu_events.h"

#include <spdlog/spdlog.h>

#include "include/lacuna/abi/gpu_registers.h"

namespace lacuna::rocm {

void GpuEvents::signal_event(std::uint32_t event_id, std::uint64_t /*mailbox*/) { events_.set_by_id(event_id); }

void GpuEvents::message_interrupt(std::uint32_t /*m0*/) {
  events_.look_at_mailboxes();
  wake_();
}

bool GpuEvents::tell(std::uint32_t code, std::uint64_t address, bool write) {
  HsaMemoryAccessFault fault{};
  fault.NodeId = node_;
  fault.VirtualAddress = address & ~std::uint64_t{0xfff};
  fault.Failure.NotPresent = code == LACUNA_FAULT_NOT_PERMITTED ? 0 : 1;
  fault.Failure.ReadOnly = code == LACUNA_FAULT_NOT_PERMITTED && write ? 1 : 0;
  fault.Failure.NoExecute = code == LACUNA_FAULT_FETCH ? 1 : 0;
  fault.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
  const bool told = events_.memory_fault(fault);
  wake_();
  return told;
}

bool GpuEvents::memory_fault(unsigned /*slot*/, const WavefrontFault& fault) { return tell(fault.code, fault.address, true); }

void GpuEvents::queue_failed(unsigned /*slot*/, std::uint32_t /*error*/) {}

void GpuEvents::sdma_trap(std::uint32_t /*queue*/, std::uint32_t context, Tick /*at*/) {
  events_.set_by_id(context);
  wake_();
}

void GpuEvents::sdma_fault(const SdmaFault& fault, Tick /*at*/) {
  if (fault.code != LACUNA_FAULT_NONE) tell(fault.code, fault.address, fault.write);
}

}  // namespace lacuna::rocm
