#include "models/sdma/sdma_memory.h"

#include <fmt/format.h>

#include "include/lacuna/abi/gpu_registers.h"

namespace lacuna {

std::optional<isa::MemoryWindow> SdmaMemory::window(SdmaQueue& queue, std::uint64_t address, std::uint64_t bytes, bool write) {
  if (epoch_ != vm_.epoch()) {
    windows_ = {};
    epoch_ = vm_.epoch();
  }
  isa::MemoryWindow& last = windows_[write ? 1 : 0];
  if (!last.contains(address, bytes)) last = vm_.find(address);
  const bool mapped = last.contains(address, bytes);
  if (mapped && isa::allows(last.granted, write ? isa::Access::write : isa::Access::read)) {
    if (write) {
      for (WriteObserver* const observer : write_observers_)
        observer->written(last.physical + (address - last.base), bytes, false);
    }
    return last;
  }
  notifier_.stop(queue,
                 {.code = mapped ? LACUNA_FAULT_NOT_PERMITTED : LACUNA_FAULT_NOT_MAPPED,
                  .address = address,
                  .write = write,
                  .text = fmt::format("{} of {} bytes at {:#x}, which is not {}; {}", write ? "write" : "read", bytes, address,
                                      mapped ? (write ? "writable" : "readable") : "mapped", vm_.nearest(address))});
  return std::nullopt;
}

std::optional<Tick> SdmaMemory::access(SdmaQueue& queue, const isa::MemoryWindow& window, std::uint64_t address,
                                       std::uint64_t bytes, bool write, Tick at) {
  if (mode_ == TimingMode::functional) return at;
  if (tlb_ != nullptr) at = later(at, tlb_->translate(address, at));
  const std::uint64_t bus_address = window.physical + (address - window.base);
  const TimingPort::Response response = port_.access(bus_address, static_cast<unsigned>(bytes), write, at);
  if (response.ok) return response.done;
  notifier_.stop(queue, {.code = LACUNA_FAULT_NOT_MAPPED,
                         .address = address,
                         .write = write,
                         .text = fmt::format("{} of {} bytes at {:#x}: nothing answers at bus address {:#x}",
                                             write ? "write" : "read", bytes, address, bus_address)});
  return std::nullopt;
}

std::byte* SdmaMemory::object(SdmaQueue& queue, std::uint64_t address, unsigned bytes, bool write, const char* what) {
  if (address % bytes != 0) {
    notifier_.stop(queue, {.code = LACUNA_FAULT_MISALIGNED,
                           .address = address,
                           .write = write,
                           .text = fmt::format("{} at {:#x}, which is not a multiple of {}", what, address, bytes)});
    return nullptr;
  }
  const std::optional<isa::MemoryWindow> found = window(queue, address, bytes, write);
  if (!found) return nullptr;
  const std::optional<Tick> done = access(queue, *found, address, bytes, write, timeline_.at());
  if (!done) return nullptr;
  timeline_.advance_to(*done);
  if (!timeline_.wait(queue)) return nullptr;
  // Looks up the window again: the address may have been unmapped while time passed.
  const std::optional<isa::MemoryWindow> still = window(queue, address, bytes, write);
  return still ? still->host + (address - still->base) : nullptr;
}

}  // namespace lacuna
