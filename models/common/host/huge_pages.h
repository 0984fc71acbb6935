// Huge pages of the host for memory that is about to be written throughout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lacuna {

/// [begin, begin + bytes) will be written, all of it, and the range around it, [low, high), is mapped: where nothing has been
/// touched yet, the host is asked for huge pages, of which each costs one page fault instead of 512. Pages may reach over the
/// range's ends. Ranges shorter than a huge page are left alone; a host without huge pages goes on with small ones.
void expect_writes(std::byte* begin, std::uint64_t bytes, std::byte* low, std::byte* high);

}  // namespace lacuna
