#include "models/common/host/thread_contention.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

using std::chrono::milliseconds;

/// A process whose threads lose their processor `per_second` times while they share work, on a clock of its own.
struct Process {
  /// Works for `length` in rounds of a millisecond; says for how long of it the work was shared.
  milliseconds shared_of(milliseconds length, unsigned per_second) {
    milliseconds shared{};
    for (milliseconds t{}; t < length; t += milliseconds{1}) {
      now += milliseconds{1};
      if (!contention.share(now, [this] { return losses / 1000; })) continue;
      shared += milliseconds{1};
      losses += per_second;
    }
    return shared;
  }

  ThreadContention contention;
  ThreadContention::Time now{};
  std::uint64_t losses = 0;  // of a thousandth
};

TEST(ThreadContention, AnIdleHostsThreadsShareAlways) {
  Process process;
  EXPECT_EQ(process.shared_of(milliseconds{5000}, 20), milliseconds{5000});
}

TEST(ThreadContention, BesideABusyProcessOneThreadWorksMostOfTheTime) {
  Process process;
  const milliseconds shared = process.shared_of(milliseconds{20000}, 1000);
  EXPECT_GE(shared, milliseconds{200});  // it looks again and again whether the processors are free
  EXPECT_LE(shared, milliseconds{600});
}

TEST(ThreadContention, SharesAgainWhenTheProcessorsAreFree) {
  Process process;
  process.shared_of(milliseconds{20000}, 1000);
  process.shared_of(ThreadContention::kAloneAtMost, 0);
  EXPECT_EQ(process.shared_of(milliseconds{1000}, 0), milliseconds{1000});
}

TEST(ThreadContention, WhatWasLostWhileNobodyWorkedDoesNotCount) {
  Process process;
  process.shared_of(milliseconds{25}, 0);
  process.now += milliseconds{10000};
  process.losses += 1'000'000;  // the program's own threads
  EXPECT_EQ(process.shared_of(milliseconds{100}, 0), milliseconds{100});
}

}  // namespace
}  // namespace lacuna
