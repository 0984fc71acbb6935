// The GPUVM map: device virtual addresses to bus addresses and to the host memory that holds their bytes.
//
// Firmware maps ranges of pages by MMIO; the executor and the command processor access data through the map. The map has no
// timing; the TLB models do (models/tlb/tlb.h).
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

  /// Maps [va, va + size) to bus address pa, whose bytes are at `host`; addresses and size are multiples of kPage. With
  /// `sharing` other_threads, other threads of this process access the bytes concurrently: atomic operations must also be
  /// atomic for these threads.
  Status map(std::uint64_t va, std::uint64_t size, std::uint64_t pa, std::byte* host, isa::Access granted,
             isa::Sharing sharing = isa::Sharing::device, isa::Grain grain = isa::Grain::coarse);
  /// Unmaps [va, va + size), which must be mapped without holes; splits ranges if necessary.
  Status unmap(std::uint64_t va, std::uint64_t size);
  void clear();
  /// Registers a function that is called after each successful unmap() and after clear(), to invalidate cached translations.
  void on_unmap(std::function<void()> invalidate) { invalidate_ = std::move(invalidate); }

  isa::MemoryWindow find(std::uint64_t address) const override;
  std::uint64_t epoch() const override { return epoch_; }

  /// Host pointer to `bytes` bytes at `address` with at least `wanted` permission, or nullptr. Also nullptr if the range is not
  /// within one mapping: callers access small, naturally aligned objects.
  std::byte* pointer(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// Description of the nearest mapping for fault reports: "4096 bytes past the end of the mapping [a, b)".
  std::string nearest(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, isa::MemoryWindow> ranges_;  // mapped ranges by base address
  std::uint64_t epoch_ = 0;
  std::function<void()> invalidate_ = [] {};
};

}  // namespace lacuna
