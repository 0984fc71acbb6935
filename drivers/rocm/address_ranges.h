// Allocator of addresses, physical or virtual: first fit, neighbours are joined when they are given back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace lacuna::rocm {

class AddressRanges {
 public:
  AddressRanges(std::uint64_t base, std::uint64_t size) : free_{{base, size}}, available_(size) {}

  /// First address of `size` bytes in a row, a multiple of `alignment` (a power of two); nothing when there are none.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
  /// What take() gave.
  void give_back(std::uint64_t base, std::uint64_t size);
  std::uint64_t available() const { return available_; }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // base to size; disjoint and not adjacent
  std::uint64_t available_;
};

}  // namespace lacuna::rocm
