// Physical memory protection: 16 entries, 4-byte granularity (privileged architecture 1.12, section 3.7).
#pragma once

#include <array>
#include <cstdint>

#include "models/host/rv64/csr_numbers.h"

namespace lacuna::rv64 {

enum class Access : std::uint8_t { load, store, fetch };

/// Inclusive address range.
struct AddressRange {
  std::uint64_t first = 0;
  std::uint64_t last = ~std::uint64_t{0};
  bool contains(std::uint64_t address) const { return address >= first && address <= last; }
};

class Pmp {
 public:
  static constexpr unsigned kEntries = 16;

  /// Value of pmpcfg register 0..15. RV64 has only the even-numbered registers, with eight entries each; entries that do not
  /// exist read as 0.
  std::uint64_t read_configuration(unsigned index) const;
  void write_configuration(unsigned index, std::uint64_t value);
  std::uint64_t read_address(unsigned index) const;
  void write_address(unsigned index, std::uint64_t value);

  /// Whether all `size` bytes at `address` may be accessed; `size` is at least 1.
  bool allows(std::uint64_t address, unsigned size, Access access, Privilege privilege) const;
  /// The part of `range` around `address` in which allows() returns the same result.
  AddressRange homogeneous(std::uint64_t address, AddressRange range) const;

 private:
  void update_ranges();
  bool locked(unsigned index) const;

  std::array<std::uint8_t, kEntries> configuration_{};
  std::array<std::uint64_t, kEntries> address_{};
  std::array<AddressRange, kEntries> ranges_{};
  std::array<bool, kEntries> active_{};
};

}  // namespace lacuna::rv64
