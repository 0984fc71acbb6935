#include "models/common/worker_threads.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

namespace lacuna {
namespace {

class WorkerThreadsOf : public testing::TestWithParam<unsigned> {};

TEST_P(WorkerThreadsOf, EachPieceIsDoneOnceAndBeforeTheReturn) {
  WorkerThreads threads(GetParam());
  EXPECT_EQ(threads.threads(), GetParam());
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned pieces = round % 17;
    std::array<unsigned, 17> done{};  // not atomic: whoever returns sees it
    threads.run(pieces, [&](unsigned i) { ++done[i]; });
    for (unsigned i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], i < pieces ? 1U : 0U) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Numbers, WorkerThreadsOf, testing::Values(1, 2, 3, 8));

TEST(WorkerThreads, PiecesRunAtTheSameTime) {
  WorkerThreads threads(2);
  std::atomic<unsigned> inside = 0;
  threads.run(2, [&](unsigned) {
    ++inside;
    while (inside != 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2U);
}

TEST(WorkerThreads, IdleThreadsSleepAndComeBack) {
  WorkerThreads threads(4);
  threads.run(4, [](unsigned) {});
  while (threads.asleep() != 3) std::this_thread::yield();
  std::atomic<unsigned> inside = 0;
  threads.run(4, [&](unsigned) {  // needs all of them
    ++inside;
    while (inside != 4) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 4U);
}

TEST(WorkerThreads, ProcessorsAreCounted) { EXPECT_GE(usable_processors(), 1U); }

}  // namespace
}  // namespace lacuna
