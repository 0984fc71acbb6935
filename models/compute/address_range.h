// Range of code addresses at which wavefronts have been observed, for example those of a loop.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lacuna {

struct AddressRange {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;  ///< address of an instruction, inclusive

  void include(std::uint64_t address) {
    first = std::min(first, address);
    last = std::max(last, address);
  }
  void include(const AddressRange& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool contains(std::uint64_t address) const { return address >= first && address <= last; }
  bool contains(const AddressRange& other) const { return other.first >= first && other.last <= last; }
  bool empty() const { return first > last; }
};

}  // namespace lacuna
