#include "models/cache/replacement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/cache/replacement_contract.h"

namespace lacuna {
namespace {

// LRU works for any number of ways, including one that is not a multiple of the host's vector width.
TEST(Replacement, LruOfAnyNumberOfWaysFindsTheLongestUnused) {
  for (const unsigned ways : {1U, 2U, 3U, 5U, 8U, 13U, 16U, 64U, 257U}) {
    constexpr unsigned kSets = 3;
    Replacement lru(ReplacementPolicy::lru, kSets, ways, 0);
    std::vector<std::vector<unsigned>> order(kSets);  // oldest first
    for (unsigned set = 0; set < kSets; ++set) {
      for (unsigned way = 0; way < ways; ++way) {
        lru.touch(set, way);
        order[set].push_back(way);
      }
    }
    std::mt19937 random(ways);
    for (unsigned i = 0; i < 500; ++i) {
      const auto set = static_cast<unsigned>(random() % kSets);
      ASSERT_EQ(lru.victim(set), order[set].front()) << ways;
      const auto way = static_cast<unsigned>(random() % ways);
      lru.touch(set, way);
      std::rotate(std::find(order[set].begin(), order[set].end(), way),
                  std::find(order[set].begin(), order[set].end(), way) + 1, order[set].end());
    }
  }
}

TEST(Replacement, LruPicksTheOldestUse) {
  Replacement lru(ReplacementPolicy::lru, 2, 4, 0);
  for (const unsigned way : {2U, 0U, 3U, 1U, 2U}) lru.touch(1, way);
  EXPECT_EQ(lru.victim(1), 0U);
  lru.touch(1, 0);
  EXPECT_EQ(lru.victim(1), 3U);
}

// A tree of four ways, followed by hand: the root's bit points to the half that was not used last, each half's bit points to
// the way of this half that was not used last.
TEST(Replacement, PlruFollowsTheTree) {
  Replacement plru(ReplacementPolicy::plru, 1, 4, 0);
  for (unsigned way = 0; way < 4; ++way) plru.touch(0, way);
  EXPECT_EQ(plru.victim(0), 0U);
  plru.touch(0, 0);
  EXPECT_EQ(plru.victim(0), 2U);  // the left half was used last, and way 3 last in the right half
  plru.touch(0, 2);
  EXPECT_EQ(plru.victim(0), 1U);  // LRU would also select way 1
  plru.touch(0, 3);
  plru.touch(0, 1);
  EXPECT_EQ(plru.victim(0), 2U);
  plru.touch(0, 1);
  plru.touch(0, 3);
  EXPECT_EQ(plru.victim(0), 0U);
}

TEST(Replacement, PlruNeverPicksTheLastUsed) {
  for (const unsigned ways : {1U, 2U, 8U, 16U, 64U}) {
    Replacement plru(ReplacementPolicy::plru, 1, ways, 0);
    for (unsigned i = 0; i < 1000; ++i) {
      const unsigned way = (i * 7919U) % ways;
      plru.touch(0, way);
      ASSERT_LT(plru.victim(0), ways);
      if (ways > 1) {
        ASSERT_NE(plru.victim(0), way);
      }
    }
  }
}

TEST(Replacement, RandomIsSpreadAndRepeats) {
  constexpr unsigned kWays = 12;
  Replacement a(ReplacementPolicy::random, 1, kWays, 5);
  Replacement b(ReplacementPolicy::random, 1, kWays, 5);
  Replacement other(ReplacementPolicy::random, 1, kWays, 6);
  std::array<unsigned, kWays> counts{};
  unsigned different = 0;
  std::vector<unsigned> first;
  for (unsigned i = 0; i < 12'000; ++i) {
    const unsigned way = a.victim(0);
    if (i < 10) first.push_back(way);
    ++counts.at(way);
    ASSERT_EQ(b.victim(0), way);
    different += other.victim(0) != way ? 1 : 0;
  }
  for (const unsigned count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_GT(different, 10'000U);
  a.reset();
  for (const unsigned way : first) EXPECT_EQ(a.victim(0), way);
}

TEST(Replacement, PoliciesObeyTheirContract) {
  for (const ReplacementPolicy* policy : replacement_policies()) test::check_replacement(*policy);
}

TEST(Replacement, PlruNeedsAPowerOfTwo) {
  EXPECT_THROW(Replacement(ReplacementPolicy::plru, 1, 12, 0), std::invalid_argument);
  EXPECT_THROW(Replacement(ReplacementPolicy::plru, 1, 128, 0), std::invalid_argument);
  EXPECT_NO_THROW(Replacement(ReplacementPolicy::random, 1, 12, 0));
}

}  // namespace
}  // namespace lacuna
