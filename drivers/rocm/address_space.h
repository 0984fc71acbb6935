// Ranges of the process's address space: memory for allocations, and addresses without memory.
//
// Ranges are allocated first fit from a dedicated region, so that a program that makes the same calls gets the same addresses
// in every run: GPUs see only these addresses, and the behaviour of their TLBs depends on them. An inaccessible guard page lies
// before and after each range, so that an access beyond an allocation faults instead of reaching the next range.
#pragma once

#include <cstdint>
#include <optional>

namespace lacuna::rocm {

struct Reservation {
  std::uint64_t base = 0;   ///< first reserved address, guard page included; for release_addresses()
  std::uint64_t size = 0;   ///< reserved bytes, guard pages included
  std::uint64_t start = 0;  ///< first usable address
};

// Functions with an optional result return nullopt when the host has no memory or no addresses left. Sizes are multiples of the
// page size.

/// Allocates zeroed memory; the host provides each page at its first access.
std::optional<Reservation> allocate_pages(std::uint64_t size, std::uint64_t alignment);
/// Allocates zeroed memory that is mapped twice, at consecutive addresses, as AQL rings of gfx8 require.
std::optional<Reservation> allocate_doubled(std::uint64_t size);
/// Reserves addresses without memory: every host access faults.
std::optional<Reservation> reserve_addresses(std::uint64_t size);
void release_addresses(std::uint64_t base, std::uint64_t size);

}  // namespace lacuna::rocm
