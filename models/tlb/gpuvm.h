// The GPUVM map: device virtual addresses to bus addresses and to the host memory behind them.
//
// Firmware fills it by MMIO, page by page ranges; the executor and the command processor reach data through it. The time of
// translation belongs to the TLB models, not here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "models/isa/memory/memory_interface.h"

namespace lacuna {

class GpuVm : public isa::MemoryInterface {
 public:
  static constexpr std::uint64_t kPage = 4096;
  enum class Status : std::uint8_t { ok, misaligned, overlap, not_mapped };

  /// Maps [va, va + size) to bus address pa, whose bytes are at `host`. All multiples of kPage. `sharing` other_threads:
  /// threads of this process access the bytes at the same time, so that atomic operations must be atomic for them, too.
  Status map(std::uint64_t va, std::uint64_t size, std::uint64_t pa, std::byte* host, isa::Access granted,
             isa::Sharing sharing = isa::Sharing::device, isa::Grain grain = isa::Grain::coarse);
  /// Unmaps [va, va + size), which must be mapped without holes; ranges are split when needed.
  Status unmap(std::uint64_t va, std::uint64_t size);
  void clear();
  /// Called whenever a mapping has gone: translations that are remembered somewhere are void.
  void on_unmap(std::function<void()> forget) { forget_ = std::move(forget); }

  isa::MemoryWindow find(std::uint64_t address) const override;
  std::uint64_t epoch() const override { return epoch_; }

  /// Host pointer to `bytes` at `address` with at least `wanted` permission, or nullptr. A range that spans several mappings
  /// with contiguous virtual but not contiguous host memory is refused: callers ask for naturally aligned small objects.
  std::byte* pointer(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// "0x1000 bytes past the end of the mapping [a, b)" — for fault reports.
  std::string nearest(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, isa::MemoryWindow> ranges_;  // by base
  std::uint64_t epoch_ = 0;
  std::function<void()> forget_ = [] {};
};

}  // namespace lacuna
