// Ranges of the process's addresses: memory for allocations, and addresses with nothing behind them.
//
// They come from a region of their own, first fit, so that a program that does the same gets the same addresses in every run:
// GPUs see no others, and their TLBs depend on them. A page without access lies before and after each range, so that neither
// the program nor a kernel gets from one allocation to the next unnoticed.
#pragma once

#include <cstdint>
#include <optional>

namespace lacuna::rocm {

struct Reservation {
  std::uint64_t base = 0;   ///< of all addresses, for release_addresses()
  std::uint64_t size = 0;   ///< of all addresses
  std::uint64_t start = 0;  ///< first usable address
};

// Nothing when the host has no memory or no addresses left. Sizes are multiples of the page size.

/// Zeroed memory that costs something only where it is touched.
std::optional<Reservation> allocate_pages(std::uint64_t size, std::uint64_t alignment);
/// Zeroed memory that is seen twice, one after the other: AQL rings of gfx8 want that.
std::optional<Reservation> allocate_doubled(std::uint64_t size);
/// Addresses that nothing is at.
std::optional<Reservation> reserve_addresses(std::uint64_t size);
void release_addresses(std::uint64_t base, std::uint64_t size);

}  // namespace lacuna::rocm
