#include "drivers/rocm/address_ranges.h"

#include <iterator>

namespace lacuna::rocm {

std::optional<std::uint64_t> AddressRanges::take(std::uint64_t size, std::uint64_t alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [base, bytes] = *range;
    const std::uint64_t start = (base + alignment - 1) & ~(alignment - 1);
    const std::uint64_t skipped = start - base;
    if (skipped > bytes || size > bytes - skipped) continue;
    free_.erase(range);
    if (skipped != 0) free_.emplace(base, skipped);
    if (skipped + size != bytes) free_.emplace(start + size, bytes - skipped - size);
    available_ -= size;
    return start;
  }
  return std::nullopt;
}

void AddressRanges::give_back(std::uint64_t base, std::uint64_t size) {
  available_ += size;
  auto next = free_.lower_bound(base);
  if (next != free_.end() && base + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == base) {
      before->second += size;
      return;
    }
  }
  free_.emplace(base, size);
}

}  // namespace lacuna::rocm
