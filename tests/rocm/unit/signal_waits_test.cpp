// Waits for signals: conditions, time limits, what wakes them, and that they do not poll.
#include "drivers/rocm/signal_waits.h"

#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

namespace lacuna::rocm {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kEver = ~std::uint64_t{0};

/// Stands for the runtime's: a signal's handle is the address of its value.
hsa_signal_value_t load(hsa_signal_t signal) {
  return reinterpret_cast<std::atomic<hsa_signal_value_t>*>(signal.handle)->load();  // NOLINT(performance-no-int-to-ptr)
}

nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

class SignalWaitsTest : public testing::Test {
 protected:
  hsa_signal_value_t wait(hsa_signal_condition_t condition, hsa_signal_value_t compare, std::uint64_t timeout = kEver) {
    return wait_asleep(events_, load, {reinterpret_cast<std::uint64_t>(&value_)}, condition, compare, timeout);
  }

  Events events_;
  std::atomic<hsa_signal_value_t> value_{3};
};

TEST_F(SignalWaitsTest, AConditionThatHoldsEndsTheWait) {
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_EQ, 3), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_NE, 4), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 4), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_GTE, 3), 3);
}

TEST_F(SignalWaitsTest, AConditionThatDoesNotHoldWaitsForItsTime) {
  constexpr std::uint64_t kTimeout = 2'000'000;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_EQ, 4, kTimeout), 3);
  EXPECT_GE(std::chrono::steady_clock::now() - start, nanoseconds(kTimeout));
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_NE, 3, 0), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 3, 1), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_GTE, 4, 1), 3);
}

TEST_F(SignalWaitsTest, EndsWhenTheValueChangesWithAnEventOrWithout) {
  HsaEventDescriptor descriptor{};
  descriptor.EventType = HSA_EVENTTYPE_SIGNAL;
  HsaEvent* event = nullptr;
  ASSERT_EQ(events_.create(descriptor, false, false, event), HSAKMT_STATUS_SUCCESS);
  for (const bool with_event : {true, false}) {
    value_ = 3;
    std::thread gpu([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      value_ = 0;
      if (with_event) events_.set_by_id(event->EventId);
    });
    EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 1), 0);
    gpu.join();
  }
  // A wait for a signal takes no event away from those that wait for events.
  EXPECT_EQ(events_.wait(std::array{event}, true, 0), HSAKMT_STATUS_SUCCESS);
}

TEST_F(SignalWaitsTest, SleepsMeanwhile) {
  constexpr nanoseconds kTimeout{300'000'000};
  const nanoseconds before = processor_time();
  wait(HSA_SIGNAL_CONDITION_EQ, 4, kTimeout.count());
  EXPECT_LT(processor_time() - before, kTimeout / 4);
}

class ReplacedWaitsTest : public testing::Test {
 protected:
  ReplacedWaitsTest() {
    core_.version.major_id = HSA_CORE_API_TABLE_MAJOR_VERSION;
    core_.version.minor_id = sizeof(core_);
    core_.hsa_signal_load_scacquire_fn = load;
    core_.hsa_signal_wait_scacquire_fn = core_.hsa_signal_wait_relaxed_fn = wait_of_runtime;
    table_.version.major_id = HSA_API_TABLE_MAJOR_VERSION;
    table_.core_ = &core_;
  }
  static hsa_signal_value_t wait_of_runtime(hsa_signal_t, hsa_signal_condition_t, hsa_signal_value_t, std::uint64_t,
                                            hsa_wait_state_t) {
    return 17;
  }
  bool replaced() const {
    EXPECT_EQ(core_.hsa_signal_wait_scacquire_fn, core_.hsa_signal_wait_relaxed_fn);
    return core_.hsa_signal_wait_scacquire_fn != wait_of_runtime;
  }

  CoreApiTable core_{};
  HsaApiTable table_{};
};

TEST_F(ReplacedWaitsTest, PassOnWhileThereIsNoDriver) {
  replace_waits(table_);
  ASSERT_TRUE(replaced());
  EXPECT_EQ(core_.hsa_signal_wait_scacquire_fn({}, HSA_SIGNAL_CONDITION_EQ, 0, kEver, HSA_WAIT_STATE_ACTIVE), 17);
}

TEST_F(ReplacedWaitsTest, ATableOfAnotherLayoutStays) {
  table_.version.major_id = HSA_API_TABLE_MAJOR_VERSION + 1;
  replace_waits(table_);
  EXPECT_FALSE(replaced());
  table_.version.major_id = HSA_API_TABLE_MAJOR_VERSION;
  core_.version.major_id = HSA_CORE_API_TABLE_MAJOR_VERSION + 1;
  replace_waits(table_);
  EXPECT_FALSE(replaced());
  core_.version.major_id = HSA_CORE_API_TABLE_MAJOR_VERSION;
  core_.version.minor_id = offsetof(CoreApiTable, hsa_signal_wait_scacquire_fn);
  replace_waits(table_);
  EXPECT_FALSE(replaced());
}

}  // namespace
}  // namespace lacuna::rocm
