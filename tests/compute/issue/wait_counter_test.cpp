#include "models/compute/issue/wait_counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "models/compute/range_allocator.h"

namespace lacuna {
namespace {

constexpr Cycles c(std::uint64_t n) { return Cycles{n}; }

TEST(WaitCounter, WithoutOperationsThereIsNoWait) {
  const WaitCounter counter;
  EXPECT_EQ(counter.when_at_most(0, c(7)), c(7));
}

TEST(WaitCounter, InOrderReturnsNeverOvertake) {
  WaitCounter counter;
  counter.add_in_order(c(100));
  counter.add_in_order(c(40));  // served before the previous operation, but returned after it
  counter.add_in_order(c(120));
  EXPECT_EQ(counter.when_at_most(2, c(0)), c(100));
  EXPECT_EQ(counter.when_at_most(1, c(0)), c(100));
  EXPECT_EQ(counter.when_at_most(0, c(0)), c(120));
}

TEST(WaitCounter, OutOfOrderReturnsAreSorted) {
  WaitCounter counter;
  for (const std::uint64_t done : {90u, 10u, 50u}) counter.add_out_of_order(c(done));
  EXPECT_EQ(counter.when_at_most(2, c(0)), c(10));
  EXPECT_EQ(counter.when_at_most(1, c(0)), c(50));
  EXPECT_EQ(counter.when_at_most(0, c(0)), c(90));
}

TEST(WaitCounter, LimitIsTightAtTheCompletion) {
  WaitCounter counter;
  counter.add_in_order(c(30));
  counter.prune(c(29));
  EXPECT_EQ(counter.outstanding(), 1u);
  counter.prune(c(30));
  EXPECT_EQ(counter.outstanding(), 0u);
}

TEST(WaitCounter, AgreesWithASortedList) {
  std::mt19937 random(3);
  WaitCounter counter;
  std::vector<std::uint64_t> model;
  std::uint64_t now = 0;
  for (int i = 0; i < 20000; ++i) {
    now += random() % 8;
    counter.prune(c(now));
    std::erase_if(model, [&](std::uint64_t t) { return t <= now; });
    ASSERT_EQ(counter.outstanding(), model.size());
    if (counter.full(60)) continue;
    const std::uint64_t done = now + 1 + random() % 300;
    counter.add_out_of_order(c(done));
    model.push_back(done);
    std::sort(model.begin(), model.end());
    const auto n = static_cast<unsigned>(random() % 20);
    ASSERT_EQ(counter.when_at_most(n, c(now)).n, model.size() <= n ? now : model[model.size() - n - 1]);
  }
}

// After a wait for all but n operations, the completed operations are dropped; queries for the rest return the same as before.
TEST(WaitCounter, DroppingCompletedOperationsDoesNotChangeLaterQueries) {
  std::mt19937 random(4);
  WaitCounter counter;
  std::vector<std::uint64_t> model;
  std::uint64_t now = 0;
  for (int i = 0; i < 20000; ++i) {
    now += random() % 8;
    if (model.size() < WaitCounter::kCapacity) {
      const std::uint64_t done = now + 1 + random() % 300;
      counter.add_out_of_order(c(done));
      model.push_back(done);
      std::sort(model.begin(), model.end());
    }
    if (random() % 4 == 0) {
      const std::size_t n = random() % 3 == 0 ? 0 : random() % 20;
      counter.keep(static_cast<unsigned>(n));
      if (model.size() > n) model.erase(model.begin(), model.end() - static_cast<std::ptrdiff_t>(n));
    }
    ASSERT_EQ(counter.outstanding(), model.size());
    for (unsigned n = 0; n < model.size(); ++n) ASSERT_EQ(counter.when_at_most(n, c(0)).n, model[model.size() - n - 1]);
  }
}

TEST(WaitCounter, AnOpenOperationDelaysLaterOnesInOrder) {
  WaitCounter counter;
  counter.add_in_order(c(20));
  const auto open = counter.open_in_order();
  counter.add_in_order(c(30));
  EXPECT_EQ(counter.outstanding(), 3u);
  ASSERT_TRUE(counter.known(2, c(0)));
  EXPECT_EQ(counter.when_at_most(2, c(0)), c(20));
  EXPECT_FALSE(counter.known(1, c(0)));
  EXPECT_FALSE(counter.known(0, c(100))) << "whatever the time is";
  EXPECT_EQ(counter.latest_known(c(0)), c(30));
  counter.prune(c(1000));
  EXPECT_EQ(counter.outstanding(), 2u) << "only the first is known to be over";
  counter.close_in_order(open, c(50), {.mshr = 7});
  ASSERT_TRUE(counter.known(0, c(0)));
  EXPECT_EQ(counter.when_at_most(1, c(0)), c(50));
  EXPECT_EQ(counter.when_at_most(0, c(0)), c(50)) << "served earlier, returned after it";
  EXPECT_EQ(counter.delays_at_most(0).mshr, 7u) << "and late for its reasons";
}

TEST(WaitCounter, AnOpenOperationMayCompleteFirstOutOfOrder) {
  WaitCounter counter;
  counter.add_out_of_order(c(80));
  counter.open_out_of_order();
  EXPECT_EQ(counter.outstanding(), 2u);
  EXPECT_FALSE(counter.known(1, c(10))) << "it may be over before cycle 80";
  EXPECT_TRUE(counter.known(1, c(80))) << "now one of the two is over for certain";
  counter.close_out_of_order(c(40), {});
  ASSERT_TRUE(counter.known(0, c(0)));
  EXPECT_EQ(counter.when_at_most(1, c(0)), c(40));
  EXPECT_EQ(counter.when_at_most(0, c(0)), c(80));
}

TEST(RangeAllocator, FirstFitAndFragmentation) {
  RangeAllocator ranges(8);
  EXPECT_EQ(ranges.allocate(3), 0u);
  EXPECT_EQ(ranges.allocate(2), 3u);
  EXPECT_EQ(ranges.allocate(3), 5u);
  EXPECT_EQ(ranges.allocate(1), std::nullopt);
  ranges.release(0, 3);
  ranges.release(5, 3);
  EXPECT_EQ(ranges.free(), 6u);
  EXPECT_EQ(ranges.allocate(4), std::nullopt) << "six are free, but no four adjacent";
  EXPECT_EQ(ranges.allocate(3), 0u);
  EXPECT_EQ(ranges.allocate(0), 0u);
}

}  // namespace
}  // namespace lacuna
