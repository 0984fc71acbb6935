// Tests the allocation of addresses, in random use against a set of single pages.
#include "drivers/rocm/address_ranges.h"

#include <gtest/gtest.h>
#include <array>
#include <map>
#include <random>
#include <set>

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kPage = 4096;

TEST(AddressRanges, FirstFitWithAlignment) {
  AddressRanges ranges(kPage, 16 * kPage);
  EXPECT_EQ(ranges.take(kPage, kPage), kPage);
  EXPECT_EQ(ranges.take(4 * kPage, 4 * kPage), 4 * kPage) << "skips two pages";
  EXPECT_EQ(ranges.take(2 * kPage, kPage), 2 * kPage) << "which fit something smaller";
  EXPECT_EQ(ranges.available(), 9 * kPage);
}

TEST(AddressRanges, TheLimitIsExact) {
  AddressRanges ranges(0, 8 * kPage);
  EXPECT_FALSE(ranges.take(8 * kPage + 1, 1));
  EXPECT_EQ(ranges.take(8 * kPage, kPage), 0U);
  EXPECT_FALSE(ranges.take(1, 1));
  EXPECT_EQ(ranges.available(), 0U);
  ranges.give_back(0, 8 * kPage);
  EXPECT_EQ(ranges.take(8 * kPage, kPage), 0U);
}

TEST(AddressRanges, NeighboursAreJoinedInEveryOrder) {
  for (const auto& order : {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    AddressRanges ranges(0, 3 * kPage);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(ranges.take(kPage, kPage));
    for (const int i : order) ranges.give_back(i * kPage, kPage);
    EXPECT_EQ(ranges.take(3 * kPage, kPage), 0U);
  }
}

TEST(AddressRanges, RandomUseNeverOverlapsAndLosesNothing) {
  constexpr std::uint64_t kPages = 256;
  AddressRanges ranges(0, kPages * kPage);
  std::mt19937_64 random(1);
  std::map<std::uint64_t, std::uint64_t> taken;  // page and number of pages
  std::set<std::uint64_t> pages;
  for (int step = 0; step < 20000; ++step) {
    if (taken.empty() || random() % 2 == 0) {
      const std::uint64_t count = random() % 16 + 1;
      const std::uint64_t alignment = std::uint64_t{1} << random() % 4;
      const auto base = ranges.take(count * kPage, alignment * kPage);
      if (!base) continue;
      ASSERT_EQ(*base % (alignment * kPage), 0U);
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_LT(*base / kPage + i, kPages);
        ASSERT_TRUE(pages.insert(*base / kPage + i).second) << "page given twice";
      }
      taken.emplace(*base / kPage, count);
    } else {
      const auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      ranges.give_back(victim->first * kPage, victim->second * kPage);
      for (std::uint64_t i = 0; i < victim->second; ++i) pages.erase(victim->first + i);
      taken.erase(victim);
    }
    ASSERT_EQ(ranges.available(), (kPages - pages.size()) * kPage);
  }
  for (const auto& [page, count] : taken) ranges.give_back(page * kPage, count * kPage);
  EXPECT_EQ(ranges.take(kPages * kPage, kPage), 0U);
}

}  // namespace
}  // namespace lacuna::rocm
