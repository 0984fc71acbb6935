// Tests calendars against brute-force models: a flag per picosecond for Calendar, a count of all holdings for PoolCalendar.
#include "models/common/time/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lacuna {
namespace {

using namespace literals;

/// Reference model of Calendar with one flag per picosecond.
class BitmapCalendar {
 public:
  explicit BitmapCalendar(std::size_t span) : taken_(span, false) {}
  std::uint64_t reserve(std::uint64_t not_before, std::uint64_t duration) {
    for (std::uint64_t start = not_before;; ++start) {
      const auto begin = taken_.begin() + static_cast<std::ptrdiff_t>(start);
      const std::uint64_t need = std::max<std::uint64_t>(duration, 1);
      if (std::find(begin, begin + static_cast<std::ptrdiff_t>(need), true) != begin + static_cast<std::ptrdiff_t>(need))
        continue;
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(duration), true);
      return start;
    }
  }

 private:
  std::vector<bool> taken_;
};

TEST(Calendar, BlockingBooksFreeTimeOnly) {
  constexpr std::uint64_t kSpan = 600;
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Calendar c;
    std::vector<bool> taken(kSpan * 4, false);
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t at = random() % kSpan;
      const std::uint64_t length = 1 + random() % 20;
      if (random() % 2 == 0) {
        c.block(Tick{at}, Tick{at + length});
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(at), length, true);
      } else {
        const std::uint64_t start = c.reserve(Tick{at}, Tick{length}).ps;
        for (std::uint64_t t = start; t < start + length; ++t) {
          ASSERT_FALSE(taken[t]) << "booked twice";
          taken[t] = true;
        }
      }
      ASSERT_EQ(c.busy().ps, static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), true)));
      const std::uint64_t free = random() % kSpan;
      const auto expected = std::find(taken.begin() + static_cast<std::ptrdiff_t>(free), taken.end(), false) - taken.begin();
      ASSERT_EQ(c.reserve(Tick{free}, Tick{0}).ps, static_cast<std::uint64_t>(expected));
    }
  }
}

TEST(Calendar, AnEmptyCalendarReturnsTheRequestedTime) {
  Calendar c;
  EXPECT_EQ(c.reserve(7_ps, 5_ps), 7_ps);
  EXPECT_EQ(c.busy(), 5_ps);
}

TEST(Calendar, TheSecondRequestQueuesAfterTheFirst) {
  Calendar c;
  EXPECT_EQ(c.reserve(10_ps, 5_ps), 10_ps);
  EXPECT_EQ(c.reserve(10_ps, 5_ps), 15_ps);
  EXPECT_EQ(c.reserve(14_ps, 5_ps), 20_ps);
  EXPECT_EQ(c.intervals(), 1u);
}

TEST(Calendar, FreeAgainAtTheEndAndNotOneTickBefore) {
  Calendar c;
  c.reserve(10_ps, 5_ps);
  EXPECT_EQ(c.reserve(14_ps, 0_ps), 15_ps);
  EXPECT_EQ(c.reserve(15_ps, 0_ps), 15_ps);
  EXPECT_EQ(c.reserve(9_ps, 0_ps), 9_ps);
  EXPECT_EQ(c.reserve(10_ps, 0_ps), 15_ps);
}

TEST(Calendar, AGapIsFilledOnlyIfTheRequestFits) {
  Calendar c;
  c.reserve(0_ps, 10_ps);
  c.reserve(15_ps, 10_ps);
  EXPECT_EQ(c.reserve(0_ps, 6_ps), 25_ps);
  EXPECT_EQ(c.reserve(0_ps, 5_ps), 10_ps);
  EXPECT_EQ(c.intervals(), 1u);
}

TEST(Calendar, AnEarlierRequestMadeLaterGetsItsSlot) {
  Calendar c;
  EXPECT_EQ(c.reserve(100_ps, 10_ps), 100_ps);
  EXPECT_EQ(c.reserve(20_ps, 10_ps), 20_ps);
  EXPECT_EQ(c.reserve(95_ps, 10_ps), 110_ps);
}

TEST(Calendar, AgreesWithTheBitmapOnRandomRequests) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Calendar c;
    BitmapCalendar model(20'000);
    const unsigned longest = 1 + seed % 12;
    std::uint64_t busy = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t at = random() % (200 + 10 * seed);
      const std::uint64_t duration = random() % (longest + 1);
      ASSERT_EQ(c.reserve({at}, {duration}).ps, model.reserve(at, duration)) << "seed " << seed << ", request " << i;
      busy += duration;
      ASSERT_EQ(c.busy().ps, busy);
    }
  }
}

TEST(Calendar, RetiringDoesNotAffectLaterRequests) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Calendar kept;
    Calendar retired;
    std::uint64_t horizon = 0;
    for (int i = 0; i < 500; ++i) {
      const Tick at{horizon + random() % 100};
      const Tick duration{1 + random() % 9};
      ASSERT_EQ(kept.reserve(at, duration), retired.reserve(at, duration));
      horizon += random() % 8;
      if (i % 3 == 0) retired.retire({horizon});
    }
    EXPECT_LT(retired.intervals(), kept.intervals());
  }
}

TEST(Calendar, MemoryIsBoundedByTheSpreadOfRequests) {
  Calendar c;
  std::mt19937 random(1);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const std::uint64_t horizon = i * 10;
    c.reserve({horizon + random() % 1000}, {1 + random() % 8});
    if (i % 64 == 0) c.retire({horizon});
    most = std::max(most, c.intervals());
  }
  // Requests are spread over 1000 ps, and bookings are retired after every 64 requests, which limits the number of separate
  // bookings.
  EXPECT_LT(most, 200u);
}

TEST(Calendar, ASaturatedResourceHoldsOneInterval) {
  Calendar c;
  for (int i = 0; i < 1'000'000; ++i) c.reserve(0_ps, 3_ps);
  EXPECT_EQ(c.intervals(), 1u);
  EXPECT_EQ(c.reserve(0_ps, 1_ps), 3'000'000_ps);
}

TEST(Calendar, ResetDropsBookings) {
  Calendar c;
  c.reserve(0_ps, 100_ps);
  c.reset();
  EXPECT_EQ(c.busy(), 0_ps);
  EXPECT_EQ(c.reserve(0_ps, 100_ps), 0_ps);
}

struct Held {
  std::uint64_t begin;
  std::uint64_t end;
};

std::uint64_t earliest_free(const std::vector<Held>& all, unsigned servers, std::uint64_t t) {
  for (;; ++t) {
    const auto held = std::count_if(all.begin(), all.end(), [t](const Held& h) { return h.begin <= t && t < h.end; });
    if (held < static_cast<std::ptrdiff_t>(servers)) return t;
  }
}

TEST(PoolCalendar, TheLastServerIsFreeAndTheNextRequestWaitsForTheFirstEnd) {
  PoolCalendar pool(2);
  pool.occupy(0_ps, 50_ps);
  EXPECT_EQ(pool.acquire(10_ps), 10_ps);
  pool.occupy(10_ps, 40_ps);
  EXPECT_EQ(pool.acquire(20_ps), 40_ps);
  EXPECT_EQ(pool.acquire(39_ps), 40_ps);
  EXPECT_EQ(pool.acquire(40_ps), 40_ps);
  EXPECT_EQ(pool.acquire(9_ps), 9_ps);
}

TEST(PoolCalendar, AgreesWithCountingOnRandomHoldings) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const unsigned servers = 1 + seed % 9;
    PoolCalendar pool(servers);
    std::vector<Held> all;
    std::uint64_t horizon = 0;
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t at = horizon + random() % 60;
      const Tick start = pool.acquire({at});
      ASSERT_EQ(start.ps, earliest_free(all, servers, at)) << "seed " << seed << ", request " << i;
      const std::uint64_t end = start.ps + random() % 40;
      pool.occupy(start, {end});
      all.push_back({start.ps, end});
      horizon += random() % 10;
      if (i % 4 == 0) pool.retire({horizon});
    }
  }
}

TEST(PoolCalendar, AgreesWithCountingWhenMostOfManyAreHeld) {
  for (unsigned seed = 0; seed < 12; seed += 2) {
    std::mt19937 random(seed);
    const unsigned servers = 11 + seed * 5;
    PoolCalendar pool(servers);
    std::vector<Held> all;
    std::uint64_t horizon = 0;
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t at = horizon + random() % 20;
      const Tick start = pool.acquire({at});
      ASSERT_EQ(start.ps, earliest_free(all, servers, at)) << "seed " << seed << ", request " << i;
      const std::uint64_t end = start.ps + 50 + random() % 100;
      pool.occupy(start, {end});
      all.push_back({start.ps, end});
      horizon += random() % 4;
      if (i % 16 == 0) pool.retire({horizon});
    }
  }
}

TEST(PoolCalendar, MemoryIsBounded) {
  PoolCalendar pool(16);
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const Tick start = pool.acquire({i * 10});
    pool.occupy(start, start + 120_ps);
    if (i % 64 == 0) pool.retire({i * 10});
    most = std::max(most, pool.changes());
  }
  EXPECT_LT(most, 200u);
}

TEST(PoolCalendar, ALongQueueBeforeASaturatedPoolCostsNoMemory) {
  PoolCalendar pool(16);
  for (int i = 0; i < 100'000; ++i) {
    const Tick start = pool.acquire({});
    EXPECT_EQ(start, 100_ps * static_cast<std::uint64_t>(i / 16));
    pool.occupy(start, start + 100_ps);
  }
  EXPECT_LE(pool.changes(), 2 * pool.servers());
}

// Checks only the memory; bench/memory_bench measures the time of appending.
TEST(Calendar, AppendingKeepsOnlyPendingTimes) {
  Calendar c;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    ASSERT_EQ(c.reserve({i * 10}, {7}), Tick{i * 10});
    most = std::max(most, c.intervals());
    if (i % 256 == 0) c.retire({i * 10});
  }
  EXPECT_EQ(most, 257U);
}

}  // namespace
}  // namespace lacuna
