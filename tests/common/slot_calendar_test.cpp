#include "models/common/slot_calendar.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace lacuna {
namespace {

TEST(SlotCalendar, FillsGapsAndBooksEachCycleOnce) {
  SlotCalendar calendar;
  EXPECT_EQ(calendar.reserve(10), 10U);
  EXPECT_EQ(calendar.reserve(10), 11U);
  EXPECT_EQ(calendar.reserve(13), 13U);
  EXPECT_EQ(calendar.reserve(9), 9U);
  EXPECT_EQ(calendar.reserve(9), 12U);
  EXPECT_EQ(calendar.reserve(9), 14U);
  EXPECT_EQ(calendar.busy(), 6U);
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

TEST(SlotCalendar, LongBacklogGrowsTheWindowAndAJumpForgetsAll) {
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

TEST(SlotCalendar, WindowStaysSmallAsTimeGoesOn) {
  SlotCalendar calendar;
  for (std::uint64_t t = 0; t < 1'000'000; t += 2) {
    ASSERT_EQ(calendar.reserve(t), t);
    if (t % 128 == 0) calendar.retire(t);
  }
  EXPECT_LE(calendar.window(), 1024U);
}

TEST(SlotCalendar, ACycleThatIsFreeInBoth) {
  SlotCalendar input;
  SlotCalendar output;
  EXPECT_EQ(SlotCalendar::reserve_both(input, output, 0), 0U);
  input.reserve(1);
  output.reserve(2);
  EXPECT_EQ(SlotCalendar::reserve_both(input, output, 1), 3U);
  // Cycle 2 was a lost bid: the input was free, the output not.
  EXPECT_EQ(input.reserve(2), 4U);
  // The output lost nothing.
  EXPECT_EQ(output.reserve(1), 1U);
}

TEST(SlotCalendar, ARunIsBookedWholeOrNotAtAll) {
  SlotCalendar input;
  SlotCalendar output;
  output.reserve(14);
  EXPECT_FALSE(SlotCalendar::reserve_run(input, output, 10, 5));
  EXPECT_EQ(input.busy(), 0U);
  EXPECT_TRUE(SlotCalendar::reserve_run(input, output, 10, 4));
  EXPECT_EQ(input.reserve(10), 14U);
  EXPECT_EQ(output.reserve(10), 15U);
  EXPECT_TRUE(SlotCalendar::reserve_run(input, output, 64, 64));
  EXPECT_EQ(input.reserve(64), 128U);
  // Not across a word: the caller books flit by flit then.
  EXPECT_FALSE(SlotCalendar::reserve_run(input, output, 255, 2));
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
  EXPECT_EQ(calendar.busy(), booked.size());
}

}  // namespace
}  // namespace lacuna
