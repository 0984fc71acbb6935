// Address routing: finds the destination of a fabric that serves an address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/time/units.h"
#include "models/common/transport/address_slice.h"

namespace lacuna {

/// Address range [base, base + size), served by destinations first_destination ... first_destination + count - 1, interleaved
/// every `interleave` bytes. The hash permutes the destinations' order from one round of interleaving to the next.
struct AddressRoute {
  std::string name;
  std::uint64_t base = 0;
  Bytes size{};
  unsigned first_destination = 0;
  unsigned count = 1;
  Bytes interleave{};  ///< size of a destination's chunks; unused if count = 1
  AddressHash hash = AddressHash::none;
};

class AddressRoutes {
 public:
  struct Hop {
    unsigned destination = 0;
    /// Bytes from the address to the end of the contiguous range that the destination serves.
    std::uint64_t contiguous = 0;
  };

  /// Throws std::invalid_argument if ranges are empty, wrap around or overlap, if an interleaved range's size is not a multiple
  /// of its interleave, or if a hash does not meet the requirements of AddressSlice.
  explicit AddressRoutes(std::vector<AddressRoute> routes);

  /// Writes the destination of an address to `hop`. Returns false if no range contains the address. Thread-safe.
  bool find(std::uint64_t address, Hop& hop) const {
    for (const Entry& entry : entries_) {
      if (!entry.holds(address)) continue;
      hop = entry.hop(address);
      return true;
    }
    return false;
  }
  /// Writes the destination that serves all of [address, address + bytes). Returns false if no destination or several serve the
  /// range.
  bool find_one(std::uint64_t address, unsigned bytes, unsigned& destination) const {
    for (const Entry& entry : entries_) {
      if (!entry.holds(address)) continue;
      destination = entry.first_destination + entry.slice.owner(address);
      return entry.slice.is_one_chunk(address, bytes);
    }
    return false;
  }
  /// Slice of the address space that a destination serves, for its cache or DRAM channel. A default slice if no route names the
  /// destination.
  AddressSlice slice(unsigned destination) const;
  /// The range nearest to an address, or nullptr if there are no ranges.
  const AddressRoute* nearest(std::uint64_t address) const;
  const std::vector<AddressRoute>& routes() const { return routes_; }
  /// One more than the highest destination that a route names.
  unsigned destinations() const;

 private:
  struct Entry {
    AddressSlice slice;
    unsigned first_destination;
    bool holds(std::uint64_t address) const { return address - slice.base() < slice.size().n; }
    Hop hop(std::uint64_t address) const {
      return {first_destination + slice.owner(address), slice.chunk_last(address) - address + 1};
    }
  };

  std::vector<AddressRoute> routes_;  // address ranges, sorted by base
  std::vector<Entry> entries_;        // slices of routes_, in the same order
};

}  // namespace lacuna
