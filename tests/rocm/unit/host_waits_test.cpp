// Tests waits of the program's threads: the simulated times at which they end, and their effect on the simulation thread.
#include "drivers/rocm/host_waits.h"

#include <gtest/gtest.h>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace lacuna::rocm {
namespace {

using std::chrono::milliseconds;

class HostWaitsTest : public testing::Test {
 protected:
  /// A thread that waits for `go_`; its result is whether the condition held.
  std::future<bool> begin_wait(const HostWaits::Limits& limits) {
    const std::size_t before = waits_.blocked_threads().size();
    auto result = std::async(std::launch::async, [this, limits] { return waits_.wait([this] { return go_.load(); }, limits); });
    while (waits_.blocked_threads().size() == before) std::this_thread::yield();
    return result;
  }

  HostWaits waits_;
  std::atomic<bool> go_{false};
};

TEST_F(HostWaitsTest, TheDeadlineIsExact) {
  waits_.advance(Tick{1000});
  HostWaits::Limits limits;
  limits.simulated = Tick{500};
  std::future<bool> waiter = begin_wait(limits);
  HostWaits::Threads threads = waits_.advance(Tick{1499});
  EXPECT_EQ(threads.blocked, 1U);
  EXPECT_EQ(threads.next, Tick{1500});
  EXPECT_FALSE(threads.waking);
  EXPECT_FALSE(threads.over);
  threads = waits_.advance(Tick{1500});
  EXPECT_TRUE(threads.over);
  waits_.release();
  EXPECT_FALSE(waiter.get());
}

TEST_F(HostWaitsTest, AConditionIsSeenByAdvanceAndByEvaluate) {
  for (const bool advance : {true, false}) {
    go_ = false;
    std::future<bool> waiter = begin_wait({});
    EXPECT_FALSE(waits_.evaluate());
    go_ = true;
    if (advance) {
      EXPECT_TRUE(waits_.advance(Tick{1}).over);
    } else {
      EXPECT_TRUE(waits_.evaluate());
    }
    waits_.release();
    EXPECT_TRUE(waiter.get());
  }
}

// After release() the thread blocks on the mutex that advance() holds, or has already continued.
TEST_F(HostWaitsTest, AReleasedThreadIsReportedUntilItHasGoneOn) {
  std::future<bool> waiter = begin_wait({});
  go_ = true;
  HostWaits::Threads threads = waits_.advance(Tick{1});
  EXPECT_EQ(threads.blocked, 1U);
  EXPECT_FALSE(threads.waking);
  waits_.release();
  EXPECT_EQ(waits_.advance(Tick{1}).blocked, 0U);
  waiter.get();
  threads = waits_.advance(Tick{1});
  EXPECT_FALSE(threads.waking);
  EXPECT_FALSE(threads.over);
}

TEST_F(HostWaitsTest, ThreadsGoOnOneAtATimeInTheOrderOfTheirWaits) {
  std::vector<std::future<bool>> waiters;
  for (int i = 0; i < 3; ++i) waiters.push_back(begin_wait({}));
  go_ = true;
  for (unsigned i = 0; i < 3; ++i) {
    const HostWaits::Threads threads = waits_.advance(Tick{1});
    EXPECT_EQ(threads.blocked, 3 - i);
    EXPECT_TRUE(threads.over);
    waits_.release();
    EXPECT_TRUE(waiters[i].get());
  }
}

TEST_F(HostWaitsTest, AThreadThatWakesOthersGoesOnAfterThem) {
  std::future<bool> waiter = begin_wait({});
  go_ = true;
  std::future<void> waker = std::async(std::launch::async, [this] { waits_.give_way(); });
  while (waits_.blocked_threads().size() == 1) std::this_thread::yield();
  EXPECT_TRUE(waits_.advance(Tick{1}).over);
  waits_.release();
  EXPECT_TRUE(waiter.get());
  EXPECT_EQ(waits_.advance(Tick{1}).blocked, 1U) << "its turn has not come yet";
  waits_.release();
  waker.get();
}

TEST_F(HostWaitsTest, GiveWayReturnsImmediatelyAfterTheEnd) {
  waits_.end();
  waits_.give_way();
}

// A thread that yields polls a second time at the same simulated time, after the threads that were due to continue, and then
// again after a microsecond.
TEST_F(HostWaitsTest, AThreadThatYieldsLooksOnceAtEachTime) {
  std::future<bool> waiter = begin_wait({});
  std::atomic<unsigned> looks{0};
  std::atomic<bool> done{false};
  std::future<void> poller = std::async(std::launch::async, [&] {
    for (; !done; waits_.yield()) ++looks;
  });
  const auto release_poller = [&](unsigned look) {
    while (looks != look || waits_.blocked_threads().empty()) {
      EXPECT_LE(looks, look);
      if (waits_.advance(waits_.now()).over) waits_.release();
    }
  };
  while (waits_.blocked_threads().size() != 2) std::this_thread::yield();
  go_ = true;
  EXPECT_TRUE(waits_.advance(Tick{}).over);
  waits_.release();
  EXPECT_TRUE(waiter.get());
  EXPECT_EQ(looks, 1U) << "others go on first";
  release_poller(2);
  EXPECT_EQ(waits_.advance(Tick{}).next, Tick{1'000'000});
  EXPECT_TRUE(waits_.advance(Tick{1'000'000}).over);
  done = true;
  waits_.release();
  poller.get();
  EXPECT_EQ(looks, 2U);
}

TEST_F(HostWaitsTest, YieldingThreadsContinueWhenNoGpuHasWork) {
  std::atomic<bool> second{false};
  std::future<void> poller = std::async(std::launch::async, [&] {
    waits_.yield();
    second = true;
    waits_.yield();
  });
  while (!second)
    if (waits_.advance(Tick{}).over) waits_.release();
  while (!waits_.idle()) std::this_thread::yield();
  waits_.release();
  poller.get();
}

// Another thread that computes delays a thread that yields, and the creator of a new thread, only for a moment. No delay
// depends on the host's clock.
TEST_F(HostWaitsTest, AThreadThatComputesHoldsUpBriefWaitsForAMomentOnly) {
  std::atomic<unsigned> calls{0};
  std::future<void> brief = std::async(std::launch::async, [&] {
    for (; calls < 2; ++calls) waits_.yield();
    waits_.give_way_briefly();
    ++calls;
  });
  std::future<bool> other;
  for (unsigned call = 0; call < 3; ++call) {
    while (waits_.blocked_threads().size() != (call == 0 ? 1 : 2)) std::this_thread::yield();
    if (call == 0) other = begin_wait({});
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(calls, call) << "not by the host's clock";
    EXPECT_TRUE(waits_.advance(Tick{}).brief);
    waits_.release_brief();
  }
  brief.get();
  EXPECT_FALSE(waits_.advance(Tick{}).brief);
  waits_.release_brief();
  EXPECT_EQ(waits_.blocked_threads().size(), 1U) << "not one that waits for its condition";
  go_ = true;
  EXPECT_TRUE(waits_.evaluate());
  waits_.release();
  EXPECT_TRUE(other.get());
}

// A thread that has computed may have fulfilled the condition that another thread polls. When the first thread waits again, the
// poller polls once more, and only then does simulated time advance. The host time of the computation has no effect.
TEST_F(HostWaitsTest, BehindAThreadThatComputesYieldGivesWayOnceMore) {
  std::atomic<unsigned> looks{0};
  std::atomic<bool> done{false};
  std::future<void> poller = std::async(std::launch::async, [&] {
    for (; !done; waits_.yield()) ++looks;
  });
  const auto blocked_after = [&](unsigned look) {
    while (looks != look || waits_.blocked_threads().empty()) std::this_thread::yield();
    return waits_.advance(Tick{});
  };
  EXPECT_TRUE(blocked_after(1).over) << "gives way";
  waits_.release_brief();
  EXPECT_TRUE(blocked_after(2).over) << "other threads have computed: yields";
  waits_.release();
  EXPECT_EQ(blocked_after(3).next, Tick{1'000'000}) << "others wait: lets time pass";
  waits_.release_brief();
  EXPECT_TRUE(blocked_after(4).over) << "others have computed meanwhile";
  done = true;
  waits_.release();
  poller.get();
}

TEST_F(HostWaitsTest, BriefWaitsEndOneAtATime) {
  std::atomic<unsigned> ended{0};
  std::vector<std::future<void>> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      waits_.give_way_briefly();
      ++ended;
    }));
    while (waits_.blocked_threads().size() != i + 1) std::this_thread::yield();
  }
  waits_.release_brief();
  threads[0].get();
  EXPECT_EQ(ended, 1U);
  EXPECT_TRUE(waits_.advance(Tick{}).brief);
  waits_.release_brief();
  threads[1].get();
}

// Another thread may undo the condition of a wait before the waiting thread's turn.
TEST_F(HostWaitsTest, AWaitThatIsOverStaysSo) {
  std::future<bool> waiter = begin_wait({});
  go_ = true;
  EXPECT_TRUE(waits_.evaluate());
  go_ = false;
  EXPECT_TRUE(waits_.advance(Tick{1}).over);
  waits_.release();
  EXPECT_TRUE(waiter.get());
}

TEST_F(HostWaitsTest, WaitsForActiveGpusEndWhenNoneIs) {
  HostWaits::Limits limits;
  limits.only_while_active = true;
  std::future<bool> poll = begin_wait(limits);
  std::future<bool> other = begin_wait({});
  EXPECT_TRUE(waits_.idle());
  waits_.release();
  EXPECT_FALSE(poll.get());
  EXPECT_FALSE(waits_.idle());
  EXPECT_EQ(waits_.advance(Tick{1}).blocked, 1U);
  go_ = true;
  EXPECT_TRUE(waits_.evaluate());
  waits_.release();
  EXPECT_TRUE(other.get());
}

TEST_F(HostWaitsTest, AWaitEndsAtItsLimitOfHostTime) {
  HostWaits::Limits limits;
  limits.host = milliseconds(1);
  EXPECT_FALSE(waits_.wait([] { return false; }, limits));
  EXPECT_TRUE(waits_.blocked_threads().empty());
}

TEST_F(HostWaitsTest, TheEndEndsAllWaits) {
  std::future<bool> waiter = begin_wait({});
  waits_.end();
  EXPECT_FALSE(waiter.get());
  EXPECT_FALSE(waits_.wait([] { return false; }, {}));
  EXPECT_TRUE(waits_.wait([] { return true; }, {}));
}

TEST_F(HostWaitsTest, TheListenerIsNotifiedOfEachBeginAndEnd) {
  std::atomic<unsigned> heard{0};
  waits_.on_change([&] { ++heard; });
  EXPECT_TRUE(waits_.wait([] { return true; }, {}));
  EXPECT_EQ(heard, 0U) << "a condition that holds already";
  std::future<bool> waiter = begin_wait({});
  go_ = true;
  while (heard != 1) std::this_thread::yield();
  EXPECT_TRUE(waits_.evaluate());
  EXPECT_EQ(heard, 2U);
  EXPECT_FALSE(waits_.evaluate());
  EXPECT_EQ(heard, 2U);
  waits_.release();
  waiter.get();
  EXPECT_EQ(waits_.advance(Tick{}).begun, 1U);
}

}  // namespace
}  // namespace lacuna::rocm
