// Functional access of the accelerator's programs to GPU memory by GPU virtual addresses; takes no simulated time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/common/transport/write_observer.h"
#include "models/sida/program/memory.h"
#include "models/tlb/gpuvm.h"

namespace lacuna::sida {

class VmMemory : public Memory {
 public:
  /// `vm` must outlive the object.
  explicit VmMemory(const GpuVm& vm) : vm_(vm) {}

  /// Adds an observer of writes.
  void add(WriteObserver& observer) { observers_.push_back(&observer); }

  void check(std::uint64_t address, std::uint64_t bytes, Access access) const override;
  void read(std::uint64_t address, std::span<std::byte> data) const override;
  void write(std::uint64_t address, std::span<const std::byte> data) override;
  const std::byte* view(std::uint64_t address, std::uint64_t bytes) const override;

 private:
  /// Calls visit(host pointer, bus address, bytes) for each piece of a range that is contiguous in host memory.
  template <typename Visit>
  void for_each(std::uint64_t address, std::uint64_t bytes, Access access, const Visit& visit) const;
  isa::MemoryWindow window(std::uint64_t address, Access access) const;

  const GpuVm& vm_;
  std::vector<WriteObserver*> observers_;
};

}  // namespace lacuna::sida
