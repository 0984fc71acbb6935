// Tests the measurement of a core's own use of a unit, and the time that other work takes in the remaining cycles.
#include "models/neardata/recent_use.h"

#include <gtest/gtest.h>

#include <vector>

namespace lacuna {
namespace {

constexpr Clock kClock{Frequency{1'000'000'000}};
constexpr Tick cycles(std::uint64_t n) { return kClock.ticks(Cycles{n}); }

TEST(RecentUse, ShareIsThatOfTheLastWholeMeasurement) {
  struct Query {
    std::uint64_t busy, at;  ///< busy cycles so far, and the cycle of the query
    unsigned share;
  };
  const std::vector<Query> queries{
      {900, 1000, 0},                                                            // begins the first measurement
      {916, 1032, 0},                                                            // 32 cycles since then
      {932, 1064, 512},                                                          // 32 of 64
      {990, 1127, 512},                                                          // 63 cycles later: the last result
      {996, 1128, 1024},  {996, 1192, 0}, {1012, 1320, 128}, {1012, 1200, 128},  // a query for an earlier time does not measure
      {1900, 1400, 1024},  // work that was booked ahead counts as a full measurement
  };
  RecentUse use;
  for (const Query& query : queries) EXPECT_EQ(use.share(query.busy, cycles(query.at), kClock), query.share) << query.at;
}

TEST(RecentUse, InstancesShareTheWork) {
  RecentUse use;
  EXPECT_EQ(use.share(0, cycles(0), kClock, 4), 0U);
  EXPECT_EQ(use.share(64, cycles(64), kClock, 4), 256U);
}

TEST(RecentUse, ResetBeginsAnew) {
  RecentUse use;
  use.share(0, cycles(0), kClock);
  EXPECT_EQ(use.share(64, cycles(64), kClock), 1024U);
  use.reset();
  EXPECT_EQ(use.share(64, cycles(5000), kClock), 0U);
  EXPECT_EQ(use.share(80, cycles(5064), kClock), 256U);
}

TEST(RecentUse, OtherWorkTakesTheRest) {
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 0), cycles(2));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 512), cycles(4));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 1024 - 64), cycles(32));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 1024), cycles(32)) << "at least a sixteenth";
}

}  // namespace
}  // namespace lacuna
