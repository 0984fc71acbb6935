// Tests waits for signals: conditions, time limits, and the actions that end the waits.
#include "drivers/rocm/signal_waits.h"

#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "tests/rocm/unit/waits_clock.h"

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kEver = ~std::uint64_t{0};

/// Takes the role of the runtime's signals: a signal's handle is the address of its value.
hsa_signal_value_t load(hsa_signal_t signal) {
  return reinterpret_cast<std::atomic<hsa_signal_value_t>*>(signal.handle)->load();  // NOLINT(performance-no-int-to-ptr)
}

class SignalWaitsTest : public testing::Test {
 protected:
  hsa_signal_value_t wait(hsa_signal_condition_t condition, hsa_signal_value_t compare, std::uint64_t timeout = kEver) {
    return wait_asleep(waits_, load, {reinterpret_cast<std::uint64_t>(&value_)}, condition, compare, timeout);
  }
  /// Returns when a thread waits.
  void wait_for_waiter() {
    while (waits_.blocked_threads().empty()) std::this_thread::yield();
  }

  HostWaits waits_;
  std::atomic<hsa_signal_value_t> value_{3};
  WaitsClock clock_{waits_};
};

TEST_F(SignalWaitsTest, AConditionThatHoldsEndsTheWait) {
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_EQ, 3), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_NE, 4), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 4), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_GTE, 3), 3);
  EXPECT_EQ(waits_.now(), Tick{}) << "no simulated time passes";
}

TEST_F(SignalWaitsTest, AConditionThatDoesNotHoldWaitsForItsSimulatedTime) {
  constexpr std::uint64_t kTimeout = 2'000'000;
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_EQ, 4, kTimeout), 3);
  EXPECT_EQ(waits_.now(), Tick{kTimeout * 1000});
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_NE, 3, 0), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 3, 1), 3);
  EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_GTE, 4, 1), 3);
}

TEST_F(SignalWaitsTest, EndsWhenTheValueChanges) {
  for (const bool noticed : {true, false}) {
    value_ = 3;
    std::thread other([&] {
      wait_for_waiter();
      value_ = 0;
      if (noticed) waits_.evaluate();
    });
    EXPECT_EQ(wait(HSA_SIGNAL_CONDITION_LT, 1), 0);
    other.join();
  }
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
