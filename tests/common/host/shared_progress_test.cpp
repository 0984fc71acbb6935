// Tests SharedProgress, sequential work in parts that several threads advance: each part is done once and in order.
#include "models/common/host/shared_progress.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

namespace lacuna {
namespace {

TEST(SharedProgress, PartsAreDoneOnceAndInOrder) {
  SharedProgress progress;
  std::vector<unsigned> done;
  const auto note = [&](unsigned part) { done.push_back(part); };
  progress.reach(1, note);
  progress.reach(1, note);
  EXPECT_EQ(done, (std::vector<unsigned>{0}));
  progress.reach(4, note);
  progress.reach(2, note);
  EXPECT_EQ(done, (std::vector<unsigned>{0, 1, 2, 3}));
  progress.restart();
  progress.reach(1, note);
  EXPECT_EQ(done.back(), 0U);
}

TEST(SharedProgress, TheWorkingThreadContinuesWithLaterRequests) {
  SharedProgress progress;
  std::vector<unsigned> done;
  progress.reach(1, [&](unsigned part) {
    done.push_back(part);
    if (part == 0) progress.reach(3, [](unsigned) { FAIL() << "two at one time"; });
  });
  EXPECT_EQ(done, (std::vector<unsigned>{0, 1, 2}));
}

TEST(SharedProgress, ManyThreads) {
  constexpr unsigned kParts = 6;
  for (unsigned round = 0; round < 300; ++round) {
    SharedProgress progress;
    std::vector<unsigned> done;  // not atomic, as one thread works at a time
    {
      std::latch all_there(4);
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          all_there.arrive_and_wait();
          for (unsigned parts = 1 + i % 2; parts <= kParts; ++parts)
            progress.reach(parts, [&](unsigned part) { done.push_back(part); });
        });
      }
    }
    ASSERT_EQ(done, (std::vector<unsigned>{0, 1, 2, 3, 4, 5}));
  }
}

}  // namespace
}  // namespace lacuna
