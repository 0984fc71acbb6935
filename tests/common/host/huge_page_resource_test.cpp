#include "models/common/host/huge_page_resource.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "models/common/host/huge_pages.h"

namespace lacuna {
namespace {

TEST(HugePageResource, AllocationsAreAlignedZeroAndDoNotOverlap) {
  HugePageResource memory;
  std::vector<std::pair<std::byte*, std::size_t>> held;
  for (const std::size_t bytes : {std::size_t{1}, kHugePage - 1, kHugePage, kHugePage + 1, 3 * kHugePage}) {
    auto* at = static_cast<std::byte*>(memory.allocate(bytes, 4096));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % kHugePage, 0U);
    EXPECT_TRUE(std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(at, bytes, static_cast<std::byte>(held.size() + 1));
    held.emplace_back(at, bytes);
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto [at, bytes] = held[i];
    EXPECT_TRUE(std::all_of(at, at + bytes, [i](std::byte b) { return b == static_cast<std::byte>(i + 1); }));
    memory.deallocate(at, bytes, 4096);
  }
}

TEST(HugePageResource, ImpossibleAllocationsThrow) {
  HugePageResource memory;
  EXPECT_THROW((void)memory.allocate(std::numeric_limits<std::size_t>::max(), 8), std::bad_alloc);
  EXPECT_THROW((void)memory.allocate(8, 2 * kHugePage), std::bad_alloc);
  EXPECT_TRUE(memory == HugePageResource());
  EXPECT_FALSE(memory == *std::pmr::new_delete_resource());
}

// An arena that exceeds its initial size allocates further memory from the resource.
TEST(HugePageResource, GrowsUnderAnArena) {
  HugePageResource memory;
  std::pmr::monotonic_buffer_resource arena(4096, &memory);
  std::pmr::vector<std::uint32_t> numbers(&arena);
  for (std::uint32_t i = 0; i < 2'000'000; ++i) numbers.push_back(i);
  for (std::uint32_t i = 0; i < 2'000'000; ++i) ASSERT_EQ(numbers[i], i);
}

}  // namespace
}  // namespace lacuna
