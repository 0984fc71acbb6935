#include "firmware/driver/range_allocator.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

namespace lacuna {
namespace {

class RangeAllocatorTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBase = 0x10'0000'0000;
  static constexpr std::uint64_t kSize = 1 << 20;
  void SetUp() override { ASSERT_TRUE(range_allocator_init(&allocator_, kBase, kSize)); }
  void TearDown() override { range_allocator_destroy(&allocator_); }
  range_allocator allocator_{};
  std::uint64_t address_ = 0;
};

TEST_F(RangeAllocatorTest, TakesLowestFit) {
  ASSERT_TRUE(range_allocator_take(&allocator_, 0x1000, 0x1000, &address_));
  EXPECT_EQ(address_, kBase);
  ASSERT_TRUE(range_allocator_take(&allocator_, 0x3000, 0x1000, &address_));
  EXPECT_EQ(address_, kBase + 0x1000);
  EXPECT_TRUE(range_allocator_give(&allocator_, kBase, 0x1000));
  ASSERT_TRUE(range_allocator_take(&allocator_, 0x2000, 0x1000, &address_));
  EXPECT_EQ(address_, kBase + 0x4000) << "the hole of one page is too small";
  ASSERT_TRUE(range_allocator_take(&allocator_, 0x1000, 0x1000, &address_));
  EXPECT_EQ(address_, kBase);
}

TEST_F(RangeAllocatorTest, TakesTheWholeRangeButNeitherMoreNorNothing) {
  EXPECT_FALSE(range_allocator_take(&allocator_, kSize + 1, 1, &address_));
  EXPECT_FALSE(range_allocator_take(&allocator_, 0, 1, &address_));
  EXPECT_FALSE(range_allocator_take(&allocator_, 16, 3, &address_)) << "alignment is not a power of two";
  ASSERT_TRUE(range_allocator_take(&allocator_, kSize, 1, &address_));
  EXPECT_EQ(range_allocator_free_bytes(&allocator_), 0u);
  EXPECT_FALSE(range_allocator_take(&allocator_, 1, 1, &address_));
}

TEST_F(RangeAllocatorTest, RefusesToGiveWhatIsFreeOrOutside) {
  EXPECT_FALSE(range_allocator_give(&allocator_, kBase, 0x1000));
  ASSERT_TRUE(range_allocator_take(&allocator_, 0x2000, 1, &address_));
  EXPECT_FALSE(range_allocator_give(&allocator_, kBase - 0x1000, 0x1000));
  EXPECT_FALSE(range_allocator_give(&allocator_, kBase + 0x1000, 0x2000)) << "the second half is free";
  EXPECT_FALSE(range_allocator_give(&allocator_, kBase + kSize - 1, 2));
  EXPECT_FALSE(range_allocator_give(&allocator_, kBase, UINT64_MAX));
  EXPECT_TRUE(range_allocator_give(&allocator_, kBase + 0x1000, 0x1000));
  EXPECT_TRUE(range_allocator_give(&allocator_, kBase, 0x1000));
  EXPECT_EQ(range_allocator_free_bytes(&allocator_), kSize);
}

// Random allocations and frees: ranges never overlap and are aligned, and at the end all memory is one free range again.
TEST_F(RangeAllocatorTest, RandomUse) {
  std::mt19937_64 random(1);
  std::map<std::uint64_t, std::uint64_t> taken;
  std::uint64_t taken_bytes = 0;
  for (int step = 0; step < 20000; ++step) {
    if (taken.empty() || random() % 5 < 3) {
      const std::uint64_t size = 1 + random() % 9000;
      const std::uint64_t alignment = std::uint64_t{1} << random() % 14;
      if (!range_allocator_take(&allocator_, size, alignment, &address_)) continue;
      ASSERT_EQ(address_ % alignment, 0u);
      ASSERT_GE(address_, kBase);
      ASSERT_LE(address_ + size, kBase + kSize);
      const auto after = taken.lower_bound(address_);
      ASSERT_TRUE(after == taken.end() || address_ + size <= after->first);
      ASSERT_TRUE(after == taken.begin() || std::prev(after)->first + std::prev(after)->second <= address_);
      taken[address_] = size;
      taken_bytes += size;
    } else {
      const auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      ASSERT_TRUE(range_allocator_give(&allocator_, victim->first, victim->second));
      taken_bytes -= victim->second;
      taken.erase(victim);
    }
    ASSERT_EQ(range_allocator_free_bytes(&allocator_), kSize - taken_bytes);
  }
  for (const auto& [address, size] : taken) ASSERT_TRUE(range_allocator_give(&allocator_, address, size));
  EXPECT_TRUE(range_allocator_take(&allocator_, kSize, 1, &address_));
}

}  // namespace
}  // namespace lacuna
