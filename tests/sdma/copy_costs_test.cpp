// Tests the costs of copies that are derived from measured copies.
#include "models/sdma/copy_costs.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

CopyCost cost(std::uint64_t ps, std::uint64_t traffic) { return {.time = {ps}, .traffic = {traffic, 2 * traffic}}; }

const CopyKind kKind{.what = "copy"};

/// Adds a cost three times, after which the cost of that size is known.
void add(CopyCosts& costs, std::uint64_t bytes, const CopyCost& cost) {
  for (int i = 0; i < 3; ++i) costs.add(kKind, bytes, cost);
}

TEST(CopyCosts, AreTheMedianOfThreeCopies) {
  CopyCosts costs;
  costs.add(kKind, 4096, cost(310, 31));
  costs.add(kKind, 4096, cost(460, 46));
  EXPECT_FALSE(costs.of(kKind, 4096).has_value());
  costs.add(kKind, 4096, cost(340, 34));
  ASSERT_TRUE(costs.of(kKind, 4096).has_value());
  EXPECT_EQ(costs.of(kKind, 4096)->time, Tick{340});
  EXPECT_EQ(costs.of(kKind, 4096)->traffic, (std::vector<std::uint64_t>{34, 68}));
  add(costs, 4096, cost(999, 9));
  EXPECT_EQ(costs.of(kKind, 4096)->time, Tick{340}) << "known costs are kept";
}

TEST(CopyCosts, AreUnknownUntilMeasured) {
  CopyCosts costs;
  EXPECT_FALSE(costs.of(kKind, 4096).has_value());
  add(costs, 4096, cost(100, 10));
  EXPECT_FALSE(costs.of({.what = "copy", .to_host = true}, 4096).has_value()) << "of another kind";
  EXPECT_FALSE(costs.of(kKind, 4095).has_value());
  EXPECT_FALSE(costs.of(kKind, 4097).has_value());
  ASSERT_TRUE(costs.of(kKind, 4096).has_value());
  EXPECT_EQ(costs.of(kKind, 4096)->time, Tick{100});
}

TEST(CopyCosts, LieOnLinesBetweenNeighbours) {
  CopyCosts costs;
  add(costs, 1000, cost(100, 10));
  add(costs, 2000, cost(300, 30));
  add(costs, 4001, cost(900, 60));
  ASSERT_TRUE(costs.of(kKind, 1250).has_value());
  EXPECT_EQ(costs.of(kKind, 1250)->time, Tick{150});
  EXPECT_EQ(costs.of(kKind, 1250)->traffic, (std::vector<std::uint64_t>{15, 30}));
  EXPECT_FALSE(costs.of(kKind, 3000).has_value()) << "neighbours too far from each other";
  EXPECT_FALSE(costs.of(kKind, 5000).has_value());
}

TEST(CopyCosts, GrowWithTheSizeByAGivenSlope) {
  CopyCosts costs;
  costs.add_slope(kKind, 1000, cost(500, 10), 2000, cost(400, 20));
  EXPECT_FALSE(costs.of(kKind, 999).has_value());
  EXPECT_EQ(costs.of(kKind, 1000)->time, Tick{500});
  EXPECT_EQ(costs.of(kKind, 2000)->time, Tick{700});
  EXPECT_EQ(costs.of(kKind, 101'000)->time, Tick{20'500});
  EXPECT_EQ(costs.of(kKind, 101'000)->traffic, (std::vector<std::uint64_t>{1010, 2020}));
  add(costs, 2000, cost(777, 7));
  EXPECT_EQ(costs.of(kKind, 2000)->time, Tick{777}) << "measured costs take precedence over computed ones";
}

TEST(CopyCosts, AreScaledAndSubtracted) {
  EXPECT_EQ(cost(100, 10).scaled(0.25).time, Tick{25});
  EXPECT_EQ(cost(100, 10).scaled(0.5).traffic, (std::vector<std::uint64_t>{5, 10}));
  EXPECT_EQ(cost(100, 10).beyond(cost(30, 4)).time, Tick{70});
  EXPECT_EQ(cost(100, 10).beyond(cost(30, 14)).traffic, (std::vector<std::uint64_t>{0, 0})) << "never negative";
}

}  // namespace
}  // namespace lacuna
