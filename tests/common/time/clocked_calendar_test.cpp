// Tests that ClockedCalendar returns the same results as Calendar, for requests that are aligned to its cycles (on the grid)
// and for others.
#include "models/common/time/clocked_calendar.h"

#include <gtest/gtest.h>

#include <random>

namespace lacuna {
namespace {

using namespace literals;

TEST(ClockedCalendar, StaysOnTheGridOfAnyPeriod) {
  for (const Tick grain : {1_ps, 294_ps, 588_ps, 625_ps, 1000_ps, Tick{999'999}}) {
    ClockedCalendar clocked(grain);
    EXPECT_TRUE(clocked.on_grid()) << grain.ps;
    EXPECT_EQ(clocked.reserve(grain * 7, grain), grain * 7);
    EXPECT_EQ(clocked.reserve(grain * 7, grain * 3), grain * 8);
    EXPECT_EQ(clocked.reserve(grain * 7, grain), grain * 11);
    EXPECT_TRUE(clocked.on_grid()) << grain.ps;
  }
}

// On average, one in `odd` requests is off the grid, and one in `odd` has a duration that is not a whole number of cycles; 0:
// none.
void compare(std::uint64_t seed, Tick grain, unsigned odd) {
  Calendar calendar;
  ClockedCalendar clocked(grain);
  std::mt19937_64 random(seed);
  Tick horizon{};
  for (unsigned i = 0; i < 20'000; ++i) {
    Tick at = horizon + grain * (random() % 300);
    Tick duration = grain * (random() % 8 == 0 ? 1 + random() % 70 : 1);
    if (odd != 0 && random() % odd == 0) at += Tick{random() % grain.ps};
    if (odd != 0 && random() % odd == 0) duration = Tick{random() % (3 * grain.ps)};
    ASSERT_EQ(clocked.reserve(at, duration), calendar.reserve(at, duration)) << i;
    if (i % 11 == 0) {
      const Tick end = at + grain * (1 + random() % 200);
      clocked.block(at, end);
      calendar.block(at, end);
    }
    if (i % 16 == 0) {
      horizon += grain * (random() % 90);
      calendar.retire(horizon);
      clocked.retire(horizon);
    }
  }
}

TEST(ClockedCalendar, AgreesWithCalendarOnTheGrid) {
  compare(1, 1000_ps, 0);
  compare(2, 588_ps, 0);
}

TEST(ClockedCalendar, AgreesWithCalendarOffTheGrid) {
  compare(3, 1000_ps, 5);
  compare(4, 625_ps, 1000);  // repeatedly switches between cycles and intervals
}

TEST(ClockedCalendar, ReturnsToTheGridWithoutBookings) {
  ClockedCalendar clocked(1000_ps);
  clocked.reserve(1000_ps, 1000_ps);
  EXPECT_EQ(clocked.reserve(1500_ps, 1000_ps), 2000_ps);
  EXPECT_FALSE(clocked.on_grid());
  clocked.retire(2500_ps);
  EXPECT_FALSE(clocked.on_grid());
  clocked.retire(3000_ps);
  EXPECT_TRUE(clocked.on_grid());
  EXPECT_EQ(clocked.reserve(3000_ps, 1000_ps), 3000_ps);
}

TEST(ClockedCalendar, AnHourAheadIsStoredAsAnInterval) {
  ClockedCalendar clocked(1000_ps);
  const Tick hour = 1_us * 3'600'000'000;
  EXPECT_EQ(clocked.reserve(hour, 1000_ps), hour);
  EXPECT_FALSE(clocked.on_grid());
  EXPECT_EQ(clocked.reserve(0_ps, 1000_ps), 0_ps);
  EXPECT_EQ(clocked.reserve(hour, 1000_ps), hour + 1000_ps);
  clocked.retire(hour * 2);
  EXPECT_TRUE(clocked.on_grid());
  EXPECT_EQ(clocked.reserve(hour * 2, 1000_ps), hour * 2);
  EXPECT_TRUE(clocked.on_grid());
}

TEST(ClockedCalendar, ResetDropsBookings) {
  ClockedCalendar clocked(1000_ps);
  clocked.reserve(1_ps, 5_ps);
  EXPECT_FALSE(clocked.on_grid());
  clocked.reset();
  EXPECT_TRUE(clocked.on_grid());
  EXPECT_EQ(clocked.reserve(0_ps, 1000_ps), 0_ps);
}

}  // namespace
}  // namespace lacuna
