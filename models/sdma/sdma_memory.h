// Memory as an SDMA engine accesses it: GPUVM windows with permissions, the time of requests, and faults.
//
// Data move through windows immediately; time is that of the translation and of a timing-only request. An invalid address stops
// the queue: LACUNA_FAULT_NOT_MAPPED, LACUNA_FAULT_NOT_PERMITTED or LACUNA_FAULT_MISALIGNED. In TimingMode::functional no
// requests are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/common/transport/timing_port.h"
#include "models/common/transport/translation_level.h"
#include "models/common/transport/write_observer.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/isa/memory/memory_interface.h"
#include "models/sdma/sdma_notifier.h"
#include "models/sdma/sdma_timeline.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

class SdmaMemory {
 public:
  SdmaMemory(const GpuVm& vm, TimingPort& port, TimingMode mode, SdmaTimeline& timeline, SdmaNotifier& notifier)
      : vm_(vm), port_(port), mode_(mode), timeline_(timeline), notifier_(notifier) {}

  /// Sets the TLB; null: translation takes no time.
  void set_tlb(TranslationLevel* tlb) { tlb_ = tlb; }
  /// Adds an observer, which is notified of every write.
  void add_write_observer(WriteObserver& observer) { write_observers_.push_back(&observer); }

  const GpuVm& vm() const { return vm_; }
  TimingMode mode() const { return mode_; }

  /// The mapping of [address, address + bytes), with the permission that the access needs; reports writes to the observers.
  /// Without such a mapping, stops the queue and returns nullopt.
  std::optional<isa::MemoryWindow> window(SdmaQueue& queue, std::uint64_t address, std::uint64_t bytes, bool write);
  /// Completion time of a request that departs at `at`; nullopt if the queue was stopped.
  std::optional<Tick> access(SdmaQueue& queue, const isa::MemoryWindow& window, std::uint64_t address, std::uint64_t bytes,
                             bool write, Tick at);
  /// Accesses a naturally aligned object of 4 or 8 bytes by one request, and waits for its completion. Returns the object; null
  /// if the queue was stopped or destroyed. `what`: name of the object in the fault's text.
  std::byte* object(SdmaQueue& queue, std::uint64_t address, unsigned bytes, bool write, const char* what);

  /// Drops past bookings of the TLB: no later request departs before `horizon`.
  void retire(Tick horizon) {
    if (tlb_ != nullptr) tlb_->retire(horizon);
  }
  void reset() { epoch_ = ~std::uint64_t{0}; }

 private:
  const GpuVm& vm_;
  TimingPort& port_;
  const TimingMode mode_;
  SdmaTimeline& timeline_;
  SdmaNotifier& notifier_;
  TranslationLevel* tlb_ = nullptr;
  std::vector<WriteObserver*> write_observers_;
  std::array<isa::MemoryWindow, 2> windows_{};  // windows of the last read and of the last write
  std::uint64_t epoch_ = ~std::uint64_t{0};     // epoch of windows_ (GpuVm::epoch())
};

}  // namespace lacuna
