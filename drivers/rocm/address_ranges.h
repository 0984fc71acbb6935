// First-fit allocator of addresses, physical or virtual. Adjacent free ranges are merged when a range is returned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace lacuna::rocm {

class AddressRanges {
 public:
  AddressRanges(std::uint64_t base, std::uint64_t size) : free_{{base, size}}, available_(size) {}

  /// Allocates `size` contiguous bytes at a multiple of `alignment` (a power of two); nullopt if no free range is large enough.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
  /// Returns a range that take() allocated.
  void give_back(std::uint64_t base, std::uint64_t size);
  std::uint64_t available() const { return available_; }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // base to size; disjoint and not adjacent
  std::uint64_t available_;
};

}  // namespace lacuna::rocm
