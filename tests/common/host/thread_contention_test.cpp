#include "models/common/host/thread_contention.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

using std::chrono::milliseconds;

/// A process, with a simulated clock, whose threads lose their processor a given number of times per second while they share
/// work.
struct Process {
  /// Works for `length` in rounds of 1 ms. Returns the time for which the work was shared.
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
  std::uint64_t losses = 0;  // thousandths of a loss
};

TEST(ThreadContention, AnIdleHostsThreadsShareAlways) {
  Process process;
  EXPECT_EQ(process.shared_of(milliseconds{5000}, 20), milliseconds{5000});
}

TEST(ThreadContention, WithABusyProcessOneThreadWorksMostOfTheTime) {
  Process process;
  const milliseconds shared = process.shared_of(milliseconds{20000}, 1000);
  EXPECT_GE(shared, milliseconds{200});  // the work is still shared during observations
  EXPECT_LE(shared, milliseconds{600});
}

TEST(ThreadContention, SharesAgainWhenTheProcessorsAreFree) {
  Process process;
  process.shared_of(milliseconds{20000}, 1000);
  process.shared_of(ThreadContention::kAloneAtMost, 0);
  EXPECT_EQ(process.shared_of(milliseconds{1000}, 0), milliseconds{1000});
}

TEST(ThreadContention, LossesBetweenRoundsDoNotCount) {
  Process process;
  process.shared_of(milliseconds{25}, 0);
  process.now += milliseconds{10000};
  process.losses += 1'000'000;  // losses of other threads of the process
  EXPECT_EQ(process.shared_of(milliseconds{100}, 0), milliseconds{100});
}

}  // namespace
}  // namespace lacuna
