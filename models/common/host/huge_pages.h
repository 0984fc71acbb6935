// Huge pages of the host for memory that is about to be written throughout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lacuna {

/// Size of a huge page of x86-64 hosts, in bytes.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Announces that all of [begin, begin + bytes) will be written; the surrounding range [low, high) must be mapped. Requests
/// huge pages where no page exists yet: a huge page costs one page fault, small pages cost 512. Huge pages may extend beyond
/// the written range. Ranges shorter than a huge page are ignored; a host without huge pages uses small pages.
void expect_writes(std::byte* begin, std::uint64_t bytes, std::byte* low, std::byte* high);

}  // namespace lacuna
