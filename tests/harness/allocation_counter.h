// Counts the allocations of a test process. To use it, link allocation_counter.cpp, which replaces operator new and delete.
#pragma once

#include <cstdint>

namespace lacuna::test {

/// Number of calls of operator new since the process started.
std::uint64_t allocations();
/// Bytes that are currently allocated.
std::uint64_t allocated_bytes();

}  // namespace lacuna::test
