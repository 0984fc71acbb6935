#include "models/common/host/worker_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

namespace lacuna {
namespace {

constexpr unsigned kItems = 17;
constexpr std::array<unsigned, kItems> kAll{16, 3, 0, 7, 1, 12, 5, 14, 2, 9, 11, 4, 15, 8, 6, 13, 10};

class WorkerThreadsOf : public testing::TestWithParam<unsigned> {};

TEST_P(WorkerThreadsOf, EachItemIsDoneOnceAndBeforeTheReturn) {
  WorkerThreads threads(GetParam());
  EXPECT_EQ(threads.threads(), GetParam());
  for (unsigned round = 0; round < 2000; ++round) {
    const auto items = std::span(kAll).first(round % (kItems + 1));
    std::array<unsigned, kItems> done{};  // not atomic, as run() makes all writes visible when it returns
    threads.run(items, kItems, [&](unsigned i, unsigned thread) {
      EXPECT_LT(thread, GetParam());
      ++done[i];
    });
    std::array<unsigned, kItems> asked{};
    for (const unsigned i : items) asked[i] = 1;
    ASSERT_EQ(done, asked) << round;
  }
}

TEST_P(WorkerThreadsOf, RethrowExceptionsOfWork) {
  WorkerThreads threads(GetParam());
  for (unsigned thrower = 0; thrower < kItems; ++thrower) {
    std::array<unsigned, kItems> done{};
    const auto work = [&](unsigned i, unsigned) {
      ++done[i];
      if (i % kItems == thrower) throw std::runtime_error(std::to_string(i));
    };
    try {
      threads.run(kAll, kItems, work);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::to_string(thrower));
    }
    EXPECT_LE(*std::max_element(done.begin(), done.end()), 1U);
    if (GetParam() > 1) {
      EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0U), kItems);
    }
  }
  std::atomic<unsigned> count{0};
  threads.run(kAll, kItems, [&](unsigned, unsigned) { ++count; });
  EXPECT_EQ(count, kItems) << "and go on afterwards";
}

INSTANTIATE_TEST_SUITE_P(Numbers, WorkerThreadsOf, testing::Values(1, 2, 3, 8));

// Thread 0 owns items 0 and 1, thread 1 owns items 2 and 3. Items 0 and 2 wait for each other, then items 1 and 3. Therefore no
// thread can process both items of a pair.
TEST(WorkerThreads, EachThreadBeginsWithItsOwnItems) {
  WorkerThreads threads(2);
  for (unsigned round = 0; round < 100; ++round) {
    std::array<unsigned, 4> done_by{};
    std::array<std::atomic<unsigned>, 2> inside{};
    threads.run(std::array{0U, 2U, 3U, 1U}, 4, [&](unsigned i, unsigned thread) {
      done_by[i] = thread;
      const unsigned turn = i == 0 || i == 2 ? 0 : 1;
      ++inside[turn];
      while (inside[turn] != 2) std::this_thread::yield();
    });
    EXPECT_EQ(done_by, (std::array<unsigned, 4>{0, 0, 1, 1}));
  }
}

TEST(WorkerThreads, IdleThreadsSleepAndWake) {
  constexpr std::array<unsigned, 4> kFour{0, 1, 2, 3};
  WorkerThreads threads(4);
  threads.run(kFour, 4, [](unsigned, unsigned) {});
  while (threads.asleep() != 3) std::this_thread::yield();
  std::atomic<unsigned> inside = 0;
  threads.run(kFour, 4, [&](unsigned, unsigned) {  // needs all four threads
    ++inside;
    while (inside != 4) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 4U);
}

// One thread owns both items, which wait for each other. The other thread must therefore take one of them.
TEST(WorkerThreads, ThreadsHelpEachOther) {
  WorkerThreads threads(2);
  std::atomic<unsigned> inside = 0;
  threads.run(std::array{0U, 1U}, 100, [&](unsigned, unsigned) {
    ++inside;
    while (inside != 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2U);
}

TEST(WorkerThreads, ProcessorsThatThisThreadMayUseAreCounted) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(usable_processors(), static_cast<unsigned>(CPU_COUNT(&all)));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(), 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace lacuna
