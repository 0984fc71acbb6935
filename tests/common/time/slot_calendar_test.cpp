#include "models/common/time/slot_calendar.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "models/common/time/slot_calendars.h"

namespace lacuna {
namespace {

/// Number of booked cycles of a calendar that has not dropped any cycle.
std::uint64_t booked_cycles(const SlotCalendar& calendar) {
  std::uint64_t count = 0;
  for (std::uint64_t cycle = 0; cycle < calendar.window(); ++cycle) count += calendar.is_booked(cycle) ? 1U : 0U;
  return count;
}

TEST(SlotCalendar, FillsGapsAndBooksEachCycleOnce) {
  SlotCalendar calendar;
  EXPECT_EQ(calendar.reserve(10), 10U);
  EXPECT_EQ(calendar.reserve(10), 11U);
  EXPECT_EQ(calendar.reserve(13), 13U);
  EXPECT_EQ(calendar.reserve(9), 9U);
  EXPECT_EQ(calendar.reserve(9), 12U);
  EXPECT_EQ(calendar.reserve(9), 14U);
  EXPECT_EQ(booked_cycles(calendar), 6U);
}

TEST(SlotCalendar, AgreesWithASetOfCycles) {
  SlotCalendar calendar;
  std::set<std::uint64_t> booked;
  std::mt19937_64 random(7);
  std::uint64_t horizon = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    const std::uint64_t from = horizon + random() % 3000;
    std::uint64_t expected = from;
    while (booked.contains(expected)) ++expected;
    ASSERT_EQ(calendar.reserve(from), expected);
    booked.insert(expected);
    if (i % 16 == 0) calendar.retire(horizon += random() % 40);
  }
}

TEST(SlotCalendar, LongBacklogGrowsTheWindowAndAJumpDropsAll) {
  SlotCalendar calendar;
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(calendar.reserve(0), i);
  EXPECT_GE(calendar.window(), 10'000U);
  calendar.retire(5000);
  EXPECT_EQ(calendar.reserve(5000), 10'000U);
  calendar.retire(1'000'000);
  EXPECT_EQ(calendar.reserve(1'000'000), 1'000'000U);
  calendar.reset();
  EXPECT_EQ(calendar.reserve(0), 0U);
}

TEST(SlotCalendar, ABookingFarAheadDoesNotKeepTheWindowLong) {
  SlotCalendar calendar;
  calendar.reserve(10'000'000);
  const std::size_t longest = calendar.window();
  EXPECT_GT(longest, 10'000'000U);
  calendar.retire(3 * longest);
  EXPECT_LT(calendar.window(), longest / 16);
  EXPECT_EQ(calendar.booked(), 0U);
  EXPECT_EQ(calendar.reserve(3 * longest + 5), 3 * longest + 5);
}

TEST(SlotCalendar, EachBookedCycleIsVisited) {
  SlotCalendar calendar;
  std::mt19937_64 random(3);
  std::set<std::uint64_t> booked;
  for (std::uint64_t horizon = 0; horizon < 20'000; horizon += 777) {
    for (int i = 0; i < 50; ++i) booked.insert(calendar.reserve(horizon + random() % 1500));
    calendar.retire(horizon);
    booked.erase(booked.begin(), booked.lower_bound(calendar.first_kept()));
    std::set<std::uint64_t> visited;
    calendar.each_booked([&](std::uint64_t cycle) { EXPECT_TRUE(visited.insert(cycle).second); });
    EXPECT_EQ(visited, booked);
  }
}

TEST(SlotCalendar, WindowStaysSmallAsTimeAdvances) {
  SlotCalendar calendar;
  for (std::uint64_t t = 0; t < 1'000'000; t += 2) {
    ASSERT_EQ(calendar.reserve(t), t);
    if (t % 128 == 0) calendar.retire(t);
  }
  EXPECT_LE(calendar.window(), 1024U);
}

TEST(SlotCalendar, CyclesNeedNotBeConsecutive) {
  SlotCalendar calendar;
  EXPECT_EQ(calendar.take(10, 4), 13U);
  EXPECT_EQ(calendar.take(16, 4), 19U);
  // Cycles 14 and 15 fill the gap, 20 and 21 follow the second booking; the next request gets cycle 22.
  EXPECT_EQ(calendar.take(10, 4), 21U);
  EXPECT_EQ(calendar.take(10, 1), 22U);
  EXPECT_EQ(booked_cycles(calendar), 13U);
}

TEST(SlotCalendar, NoFreeCycleIsSkipped) {
  SlotCalendar calendar;
  std::set<std::uint64_t> booked;
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 400; ++i) {
    auto count = static_cast<unsigned>(random() % (i % 8 == 0 ? 200 : 12)) + 1;
    const std::uint64_t from = random() % 4000;
    std::uint64_t last = from;
    for (std::uint64_t c = from; count > 0; ++c) {
      if (!booked.insert(c).second) continue;
      last = c;
      if (--count == 0) break;
    }
    const auto before = static_cast<unsigned>(booked.size() - booked_cycles(calendar));
    ASSERT_EQ(calendar.take(from, before), last) << from << ", " << before;
  }
  EXPECT_EQ(booked_cycles(calendar), booked.size());
}

TEST(SlotCalendar, RunsOfAnyLength) {
  SlotCalendar calendar;
  std::set<std::uint64_t> booked;
  std::mt19937_64 random(3);
  for (unsigned i = 0; i < 400; ++i) {
    const auto count = static_cast<unsigned>(random() % (i % 8 == 0 ? 200 : 12)) + 1;
    const std::uint64_t from = random() % 4000;
    std::uint64_t expected = from;
    const auto is_free = [&](std::uint64_t first) {
      const auto next = booked.lower_bound(first);
      return next == booked.end() || *next >= first + count;
    };
    while (!is_free(expected)) ++expected;
    ASSERT_EQ(calendar.first_run(from, count), expected) << from << ", " << count;
    calendar.book(expected, count);
    for (unsigned c = 0; c < count; ++c) booked.insert(expected + c);
  }
  EXPECT_EQ(booked_cycles(calendar), booked.size());
}

TEST(SlotCalendars, AFlitTakesACycleThatIsFreeInBothCalendars) {
  SlotCalendars ports(3);
  std::vector<std::uint64_t> cycles(4);
  const auto flit = [&](unsigned a, unsigned b, std::uint64_t from) {
    return ports.reserve_both(a, b, from, 1, cycles.data()).first;
  };
  EXPECT_EQ(flit(0, 1, 0), 0U);
  EXPECT_EQ(flit(2, 1, 1), 1U);
  // In cycle 1 input 0 is free but output 1 is busy: the lost bid books cycle 1 of input 0, and the flit passes in cycle 2.
  EXPECT_EQ(flit(0, 1, 1), 2U);
  EXPECT_EQ(flit(0, 2, 1), 3U);
  EXPECT_EQ(ports.window(), 256U);
}

TEST(SlotCalendars, FindsTheFirstRunThatIsFreeInTwoCalendars) {
  SlotCalendars ports(3);
  std::vector<std::set<std::uint64_t>> booked(3);
  std::mt19937_64 random(9);
  for (unsigned i = 0; i < 400; ++i) {
    const auto count = static_cast<unsigned>(random() % (i % 8 == 0 ? 200 : 12)) + 1;
    const std::uint64_t from = random() % 3000;
    const std::size_t a = random() % 3;
    const std::size_t b = (a + 1) % 3;
    std::uint64_t expected = from;
    const auto is_free = [&](std::size_t calendar, std::uint64_t first) {
      const auto next = booked[calendar].lower_bound(first);
      return next == booked[calendar].end() || *next >= first + count;
    };
    while (!is_free(a, expected) || !is_free(b, expected)) ++expected;
    ASSERT_EQ(ports.first_run(a, b, from, count), expected) << from << ", " << count;
    // The filled range may include cycles that are already booked.
    ports.fill(a, expected, count + i % 3);
    for (unsigned c = 0; c < count + i % 3; ++c) booked[a].insert(expected + c);
  }
  ports.retire(100'000);
  EXPECT_EQ(ports.first_run(0, 1, 100'000, 5), 100'000U);
}

TEST(SlotCalendars, ReservingAPacketEqualsReservingItFlitByFlit) {
  SlotCalendars ports(8);
  std::vector<std::set<std::uint64_t>> booked(8);
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> cycles(100);
  std::uint64_t horizon = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const std::uint64_t input = random() % 4;
    const std::uint64_t output = 4 + random() % 4;
    const auto flits = static_cast<unsigned>(i % 16 == 0 ? 1 + random() % 100 : 1 + random() % 6);
    const std::uint64_t from = horizon + random() % 400;
    std::uint64_t next = from;
    std::vector<std::uint64_t> expected;
    for (unsigned f = 0; f < flits; ++f, ++next) {
      for (; booked[input].contains(next) || booked[output].contains(next); ++next) {
        if (booked[output].contains(next)) booked[input].insert(next);
      }
      booked[input].insert(next);
      booked[output].insert(next);
      expected.push_back(next);
    }
    const auto passage = ports.reserve_both(input, output, from, flits, cycles.data());
    ASSERT_EQ(passage.first, expected.front()) << i;
    ASSERT_EQ(passage.last, expected.back()) << i;
    if (passage.last - passage.first != flits - 1) {
      for (unsigned f = 0; f < flits; ++f) ASSERT_EQ(cycles[f], expected[f]) << i << ", " << f;
    }
    horizon += random() % 8;
    ports.retire(horizon);
  }
}

TEST(SlotCalendars, TheWindowDoesNotGrowWithTime) {
  SlotCalendars ports(2);
  std::vector<std::uint64_t> cycles(4);
  for (std::uint64_t t = 0; t < 1'000'000; t += 3) {
    ports.reserve_both(0, 1, t + t % 97, 2, cycles.data());
    if (t % 60 == 0) ports.retire(t);
  }
  EXPECT_LE(ports.window(), 512U);
  ports.retire(std::uint64_t{1} << 40);
  EXPECT_EQ(ports.reserve_both(0, 1, (std::uint64_t{1} << 40) + 5, 1, cycles.data()).first, (std::uint64_t{1} << 40) + 5);
  EXPECT_LE(ports.window(), 512U);
}

}  // namespace
}  // namespace lacuna
