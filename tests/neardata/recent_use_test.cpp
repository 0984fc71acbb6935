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
      {16, 32, 0},                                          // less than 64 cycles since the start
      {32, 64, 512},                                        // 32 of 64
      {90, 127, 512},                                       // 63 cycles later: the last result
      {96, 128, 1024},                                      // 64 of 64
      {96, 192, 0},      {112, 320, 128}, {112, 200, 128},  // a query for an earlier time does not measure
      {1000, 400, 1024},                                    // work that was booked ahead counts as a full measurement
  };
  RecentUse use;
  for (const Query& query : queries) EXPECT_EQ(use.share(query.busy, cycles(query.at), kClock), query.share) << query.at;
}

TEST(RecentUse, InstancesShareTheWork) {
  RecentUse use;
  EXPECT_EQ(use.share(64, cycles(64), kClock, 4), 256U);
}

TEST(RecentUse, ResetStartsAnewWithTheCountSoFar) {
  RecentUse use;
  EXPECT_EQ(use.share(64, cycles(64), kClock), 1024U);
  use.reset(64);
  EXPECT_EQ(use.share(64, cycles(10), kClock), 0U);
  EXPECT_EQ(use.share(80, cycles(64), kClock), 256U);
}

TEST(RecentUse, OtherWorkTakesTheRest) {
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 0), cycles(2));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 512), cycles(4));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 1024 - 64), cycles(32));
  EXPECT_EQ(RecentUse::in_the_rest(cycles(2), 1024), cycles(32)) << "at least a sixteenth";
}

}  // namespace
}  // namespace lacuna
