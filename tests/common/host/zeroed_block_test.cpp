// Tests ZeroedBlock: its arrays lie in memory that is already zero, and their pages are not touched before they are used.
#include "models/common/host/zeroed_block.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/common/host/huge_page_resource.h"

namespace lacuna {
namespace {

/// Whether any page of [begin, begin + bytes) is resident on the host.
bool touched(const void* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  EXPECT_EQ(mincore(const_cast<void*>(begin), bytes, pages.data()), 0);
  return std::any_of(pages.begin(), pages.end(), [](unsigned char flags) { return (flags & 1) != 0; });
}

TEST(ZeroedBlock, IsNotTouchedBeforeItIsUsed) {
  constexpr std::size_t kWords = std::size_t{4} << 20;
  ZeroedBlock<std::uint32_t> block(kWords, huge_page_resource());
  EXPECT_EQ(block.size(), kWords);
  EXPECT_FALSE(touched(block.data(), kWords * sizeof(std::uint32_t)));
  EXPECT_EQ(block.data()[kWords - 1], 0U);
  block.data()[0] = 7;
  EXPECT_EQ(block.data()[0], 7U);
  EXPECT_TRUE(std::all_of(block.data() + 1, block.data() + kWords, [](std::uint32_t word) { return word == 0; }));
}

TEST(ZeroedBlock, BlocksOfAnArenaAreApartAndAligned) {
  HugePageResource pages;
  std::pmr::monotonic_buffer_resource arena(1 << 20, &pages);
  ZeroedBlock<std::byte> first(100, arena);
  ZeroedBlock<std::uint32_t> second(50, arena);
  std::fill_n(first.data(), first.size(), std::byte{0xff});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.data()) % 64, 0U);
  EXPECT_TRUE(std::all_of(second.data(), second.data() + second.size(), [](std::uint32_t word) { return word == 0; }));
}

}  // namespace
}  // namespace lacuna
