// Bus addresses of GPU virtual addresses: caches the most recent mappings, so that a lookup takes few host instructions.
#pragma once

#include <array>
#include <cstdint>

#include "models/tlb/gpuvm.h"

namespace lacuna {

class PhysicalAddresses {
 public:
  static constexpr std::uint64_t kUnmapped = ~std::uint64_t{0};

  explicit PhysicalAddresses(const GpuVm& vm) : vm_(vm) {}

  /// Bus address of a GPU virtual address; kUnmapped: it is not mapped.
  std::uint64_t find(std::uint64_t address) {
    const isa::MemoryWindow& window = windows_[0];
    if (epoch_ == vm_.epoch() && window.contains(address, 1)) [[likely]]
      return window.physical + (address - window.base);
    return search(address);
  }
  /// Host memory of `bytes` bytes within one mapping; null if there is none.
  const std::byte* host(std::uint64_t address, std::uint64_t bytes) {
    if (find(address) == kUnmapped || !windows_[0].contains(address, bytes)) return nullptr;
    return windows_[0].host + (address - windows_[0].base);
  }

 private:
  std::uint64_t search(std::uint64_t address) {
    if (epoch_ != vm_.epoch()) {
      windows_ = {};
      epoch_ = vm_.epoch();
    }
    std::size_t i = 1;
    while (i < windows_.size() && !windows_[i].contains(address, 1)) ++i;
    isa::MemoryWindow found = i < windows_.size() ? windows_[i] : vm_.find(address);
    if (found.size == 0) return kUnmapped;
    for (i = i < windows_.size() ? i : i - 1; i > 0; --i) windows_[i] = windows_[i - 1];
    windows_[0] = found;
    return found.physical + (address - found.base);
  }

  const GpuVm& vm_;
  std::array<isa::MemoryWindow, 4> windows_{};
  std::uint64_t epoch_ = ~std::uint64_t{0};
};

}  // namespace lacuna
