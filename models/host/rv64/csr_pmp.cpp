#include "models/host/rv64/csr_pmp.h"

#include <algorithm>
#include <bit>

namespace lacuna::rv64 {
namespace {

constexpr unsigned kReadable = 1;
constexpr unsigned kWritable = 2;
constexpr unsigned kExecutable = 4;
constexpr unsigned kLocked = 0x80;
constexpr unsigned kConfigurationMask = 0x9f;
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 54) - 1;

enum class Matching : unsigned { off, top_of_range, four_bytes, power_of_two };

Matching matching(std::uint8_t configuration) { return static_cast<Matching>(configuration >> 3 & 3); }

bool permits(std::uint8_t configuration, Access access) {
  switch (access) {
    case Access::load:
      return (configuration & kReadable) != 0;
    case Access::store:
      return (configuration & kWritable) != 0;
    default:
      return (configuration & kExecutable) != 0;
  }
}

}  // namespace

bool Pmp::locked(unsigned index) const { return (configuration_[index] & kLocked) != 0; }

std::uint64_t Pmp::read_configuration(unsigned index) const {
  std::uint64_t value = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    const unsigned entry = index * 4 + byte;
    if (entry < kEntries) value |= std::uint64_t{configuration_[entry]} << (byte * 8);
  }
  return value;
}

void Pmp::write_configuration(unsigned index, std::uint64_t value) {
  for (unsigned byte = 0; byte < 8; ++byte) {
    const unsigned entry = index * 4 + byte;
    if (entry >= kEntries || locked(entry)) continue;
    auto configuration = static_cast<std::uint8_t>(value >> (byte * 8) & kConfigurationMask);
    // Writable but not readable is reserved: writing this combination leaves the entry without write permission.
    if ((configuration & (kReadable | kWritable)) == kWritable) configuration &= static_cast<std::uint8_t>(~kWritable);
    configuration_[entry] = configuration;
  }
  update_ranges();
}

std::uint64_t Pmp::read_address(unsigned index) const { return index < kEntries ? address_[index] : 0; }

void Pmp::write_address(unsigned index, std::uint64_t value) {
  if (index >= kEntries || locked(index)) return;
  // The base of a locked top-of-range entry is locked too.
  if (index + 1 < kEntries && locked(index + 1) && matching(configuration_[index + 1]) == Matching::top_of_range) return;
  address_[index] = value & kAddressMask;
  update_ranges();
}

void Pmp::update_ranges() {
  for (unsigned i = 0; i < kEntries; ++i) {
    const std::uint64_t base = address_[i] << 2;
    active_[i] = true;
    switch (matching(configuration_[i])) {
      case Matching::off:
        active_[i] = false;
        break;
      case Matching::top_of_range: {
        const std::uint64_t bottom = i == 0 ? 0 : address_[i - 1] << 2;
        active_[i] = bottom < base;
        ranges_[i] = {bottom, base - 1};
        break;
      }
      case Matching::four_bytes:
        ranges_[i] = {base, base + 3};
        break;
      case Matching::power_of_two: {
        // n trailing ones encode 2^(n+3) bytes.
        const unsigned ones = static_cast<unsigned>(std::countr_one(address_[i]));
        const std::uint64_t low = ((std::uint64_t{1} << ones) << 3) - 1;
        ranges_[i] = {base & ~low, base | low};
        break;
      }
    }
  }
}

bool Pmp::allows(std::uint64_t address, unsigned size, Access access, Privilege privilege) const {
  const std::uint64_t last = address + size - 1;
  for (unsigned i = 0; i < kEntries; ++i) {
    if (!active_[i] || last < ranges_[i].first || address > ranges_[i].last) continue;
    // The lowest entry that matches any byte of the access must match all of its bytes.
    if (!ranges_[i].contains(address) || !ranges_[i].contains(last)) return false;
    if (privilege == Privilege::machine && !locked(i)) return true;
    return permits(configuration_[i], access);
  }
  return privilege == Privilege::machine;
}

AddressRange Pmp::homogeneous(std::uint64_t address, AddressRange range) const {
  for (unsigned i = 0; i < kEntries; ++i) {
    if (!active_[i]) continue;
    if (ranges_[i].contains(address)) {
      range.first = std::max(range.first, ranges_[i].first);
      range.last = std::min(range.last, ranges_[i].last);
      return range;
    }
    if (ranges_[i].last < address) {
      range.first = std::max(range.first, ranges_[i].last + 1);
    } else {
      range.last = std::min(range.last, ranges_[i].first - 1);
    }
  }
  return range;
}

}  // namespace lacuna::rv64
