// Tests memory instructions in flight: when their counters and waiting wavefronts are notified, and with which causes of delay.
#include "models/compute/memory/memory_tokens.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/common/host/huge_page_resource.h"

namespace lacuna {
namespace {

using namespace literals;

struct Told : MemoryTokens::Listener {
  std::vector<const WavefrontSlot*> slots;
  std::vector<Cycles> groups;
  std::vector<std::pair<unsigned, Cycles>> filled;  ///< stage and completion of each registers_filled()
  void operation_closed(WavefrontSlot& slot) override { slots.push_back(&slot); }
  void operation_closed(ResidentWorkgroup&, Cycles done) override { groups.push_back(done); }
  void registers_filled(WavefrontSlot&, unsigned stage, Cycles done, const OperationDelays&) override {
    filled.emplace_back(stage, done);
  }
};

class MemoryTokensTest : public testing::Test {
 protected:
  MemoryTokensTest() {
    slot_.group = &group_;
    simd_.slots.emplace_back(simd_, 1);
  }

  // A cycle is a nanosecond.
  MemoryTokens::Token begin(Counters counters, unsigned requests, KernelActivity* activity = nullptr) {
    const MemoryTokens::Token token = tokens_.begin(slot_, counters, 10_ns, Tick{}, Cycles{4}, activity);
    tokens_.expect(token, requests);
    return token;
  }
  static MemoryResponse answer(Tick done) { return {.made = 10_ns, .arrived = 10_ns, .done = done, .service = done - 10_ns}; }
  void tell(MemoryTokens::Token token, Tick done) { tokens_.add(token, answer(done), done); }

  Clock clock_{Frequency{1'000'000'000}};
  ComputeUnitParameters parameters_;
  SimdTimes times_{4, 4};
  Simd simd_{0, times_, parameters_, 4, huge_page_resource()};
  WavefrontSlot& slot_ = simd_.free_slot();
  Dispatch dispatch_;
  ResidentWorkgroup group_{.dispatch = &dispatch_};
  Told told_;
  MemoryTokens tokens_{clock_, told_};
};

TEST_F(MemoryTokensTest, AnOperationCompletedAtIssueIsNeverOpen) {
  const auto token = begin(Counters::vmcnt, 2);
  tell(token, 50_ns);
  tell(token, 30_ns);
  EXPECT_EQ(slot_.vmcnt.outstanding(), 0U);  // not counted before the operation has been issued
  tokens_.issued(token);
  EXPECT_EQ(slot_.vmcnt.outstanding(), 1U);
  EXPECT_EQ(slot_.vmcnt.when_at_most(0, Cycles{0}), Cycles{54});  // the last response, and 4 cycles to the registers
  EXPECT_EQ(slot_.open, 0U);
  EXPECT_TRUE(told_.slots.empty());
  EXPECT_EQ(tokens_.open(), 0U);
}

TEST_F(MemoryTokensTest, OpenUntilTheLastResponse) {
  const auto token = begin(Counters::both, 3);
  tokens_.issued(token);
  EXPECT_EQ(slot_.open, 1U);
  tell(token, 90'500_ps);
  tell(token, 40_ns);
  EXPECT_FALSE(slot_.vmcnt.known(0, Cycles{0}));
  EXPECT_TRUE(told_.slots.empty());
  tell(token, 60_ns);
  ASSERT_EQ(told_.slots, std::vector<const WavefrontSlot*>{&slot_});
  EXPECT_EQ(slot_.open, 0U);
  EXPECT_EQ(slot_.vmcnt.when_at_most(0, Cycles{0}), Cycles{95});  // 90.5 ns rounded up to a cycle, and 4 cycles
  EXPECT_EQ(slot_.lgkmcnt.when_at_most(0, Cycles{0}), Cycles{95});
}

TEST_F(MemoryTokensTest, DelaysAreThoseOfTheLastResponse) {
  const auto token = tokens_.begin(slot_, Counters::vmcnt, 10_ns, 3_ns, Cycles{0}, nullptr);
  tokens_.expect(token, 2);
  tokens_.issued(token);
  LatencyBreakdown below;
  below.add(MemoryLevel::noc, 6_ns, 20_ns);
  below.mshr = 2_ns;
  tokens_.add(token, {.made = 10_ns, .arrived = 17_ns, .done = 80_ns, .queueing = 5_ns, .mshr = 1_ns, .below = &below}, 80_ns);
  tokens_.add(token, {.made = 10_ns, .arrived = 40_ns, .done = 60_ns, .queueing = 19_ns}, 60_ns);
  const OperationDelays delays = slot_.vmcnt.delays_at_most(0);
  EXPECT_EQ(delays.tlb, 7U);
  EXPECT_EQ(delays.mshr, 3U);
  EXPECT_EQ(delays.queues, 11U);  // 5 in the cache + 6 in the network - 3 for MSHRs + 3 for the unit
  EXPECT_EQ(delays.lds_conflict, 0U);
}

TEST_F(MemoryTokensTest, AnIncludedPartDeterminesTheEndIfItEndsLater) {
  for (const auto& [part, done] : {std::pair{Cycles{30}, Cycles{54}}, {Cycles{70}, Cycles{70}}}) {
    slot_.vmcnt.clear();
    const auto token = begin(Counters::vmcnt, 1);
    tokens_.include(token, part, {.lds_conflict = 9});
    tokens_.issued(token);
    tell(token, 50_ns);
    EXPECT_EQ(slot_.vmcnt.when_at_most(0, Cycles{0}), done);
    EXPECT_EQ(slot_.vmcnt.delays_at_most(0).lds_conflict, done == part ? 9U : 0U);
  }
}

TEST_F(MemoryTokensTest, PendingStoresOutliveTheirWavefront) {
  const auto first = begin(Counters::vmcnt, 1);
  tokens_.issued(first);
  const auto second = begin(Counters::vmcnt, 1);
  tokens_.issued(second);
  tokens_.wavefront_ended(slot_);
  EXPECT_EQ(slot_.open, 0U);
  EXPECT_EQ(group_.open, 2U);
  tell(second, 70_ns);
  EXPECT_EQ(group_.open, 1U);
  tell(first, 100_ns);
  EXPECT_EQ(group_.open, 0U);
  EXPECT_EQ(told_.groups, (std::vector<Cycles>{Cycles{74}, Cycles{104}}));
  EXPECT_TRUE(told_.slots.empty());
}

TEST_F(MemoryTokensTest, DepartingDetachesOnlyTheWavefrontsOperations) {
  WavefrontSlot& other = simd_.slots[1];
  other.group = &group_;
  const auto theirs = tokens_.begin(other, Counters::vmcnt, 10_ns, Tick{}, Cycles{4}, nullptr);
  tokens_.expect(theirs, 1);
  tokens_.issued(theirs);  // its token comes first in the search of wavefront_ended()
  tokens_.issued(begin(Counters::vmcnt, 1));
  tokens_.wavefront_ended(slot_);
  EXPECT_EQ(other.open, 1U);
  tell(theirs, 50_ns);
  EXPECT_EQ(told_.slots, std::vector<const WavefrontSlot*>{&other});
}

TEST_F(MemoryTokensTest, OperationsOfADroppedDispatchNotifyNoWavefront) {
  KernelActivity activity;
  const auto token = begin(Counters::vmcnt, 1, &activity);
  tokens_.issued(token);
  tokens_.drop(dispatch_);
  tell(token, 50_ns);
  EXPECT_TRUE(told_.slots.empty());
  EXPECT_TRUE(told_.groups.empty());
  EXPECT_EQ(activity.requests, 0U);
  EXPECT_EQ(tokens_.open(), 0U);
}

TEST_F(MemoryTokensTest, OperationsOfLoadStagesFillRegisters) {
  using Filled = std::vector<std::pair<unsigned, Cycles>>;
  for (const unsigned stage : {0U, 3U}) {
    told_.filled.clear();
    const auto token = begin(counters_of_stage(stage), 1);
    tokens_.issued(token);
    tell(token, 50_ns);
    EXPECT_EQ(told_.filled, (Filled{{stage, Cycles{54}}}));
    EXPECT_EQ(slot_.open, 0U);
  }
}

TEST_F(MemoryTokensTest, RequestsAreCountedWithTheirKernel) {
  KernelActivity activity;
  const auto token = begin(Counters::vmcnt, 2, &activity);
  tokens_.issued(token);
  EXPECT_EQ(tokens_.oldest_load(), 10_ns);
  tell(token, 30_ns);
  tell(token, 50_ns);
  EXPECT_EQ(activity.requests, 2U);
  EXPECT_EQ(activity.request_time, 60_ns);
  EXPECT_EQ(tokens_.oldest_load(), kNever);
}

TEST_F(MemoryTokensTest, TokensAreReused) {
  for (unsigned i = 0; i < 1000; ++i) {
    slot_.vmcnt.clear();
    const auto token = begin(Counters::vmcnt, 1);
    EXPECT_EQ(token, 0U);
    tokens_.issued(token);
    tell(token, 50_ns);
  }
}

}  // namespace
}  // namespace lacuna
