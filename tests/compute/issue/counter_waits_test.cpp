// Tests waits at s_waitcnt, and at counters that have reached their limit.
#include "models/compute/issue/counter_waits.h"

#include <gtest/gtest.h>

#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

constexpr std::uint32_t kVm0 = 0x0f70;      // vmcnt(0)
constexpr std::uint32_t kVm1 = 0x0f71;      // vmcnt(1)
constexpr std::uint32_t kLgkm0 = 0x007f;    // lgkmcnt(0)
constexpr std::uint32_t kNothing = 0x0f7f;  // vmcnt(15) lgkmcnt(15)

class CounterWaitsTest : public testing::Test {
 protected:
  UnitParts p_;
  std::unique_ptr<Dispatch> dispatch_ = p_.dispatch({0xdc500000, 0x02000000, 0xbf810000});  // flat_load_dword
  WavefrontSlot& slot_ = *p_.start(*dispatch_).slots[0];
  CounterWaits waits_{isa::Target::gfx803};
};

TEST_F(CounterWaitsTest, AKnownCompletionDelaysTheWavefront) {
  slot_.vmcnt.add_in_order(Cycles{50}, {.tlb = 3});
  slot_.when = Cycles{14};
  waits_.wait(slot_, kVm0, Cycles{10});
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{50});
  EXPECT_EQ(slot_.vmcnt.outstanding(), 0U);
  EXPECT_EQ((*slot_.activity)[StallCause::tlb], 3U);
  EXPECT_EQ((*slot_.activity)[StallCause::vmcnt], 47U);
}

TEST_F(CounterWaitsTest, WaitsUntilTheGivenNumberIsOutstanding) {
  slot_.vmcnt.add_in_order(Cycles{50});
  slot_.vmcnt.add_in_order(Cycles{90});
  slot_.lgkmcnt.add_out_of_order(Cycles{70});
  waits_.wait(slot_, kNothing, Cycles{10});
  EXPECT_LT(slot_.when, Cycles{50});
  waits_.wait(slot_, kVm1, Cycles{10});
  EXPECT_EQ(slot_.when, Cycles{50});
  EXPECT_EQ(slot_.vmcnt.outstanding(), 1U);
  waits_.wait(slot_, kLgkm0, Cycles{10});
  EXPECT_EQ(slot_.when, Cycles{70});
}

TEST_F(CounterWaitsTest, AnOpenOperationHoldsTheWavefrontUntilItIsClosed) {
  const auto operation = slot_.vmcnt.open_in_order();
  waits_.wait(slot_, kVm0, Cycles{10});
  EXPECT_TRUE(slot_.held_by(StallReason::vmcnt));
  slot_.publish();
  EXPECT_EQ(slot_.ready(), kNeverCycles);
  waits_.operation_closed(slot_);
  EXPECT_TRUE(slot_.held()) << "its completion is not known yet";
  slot_.vmcnt.close_in_order(operation, Cycles{60}, {});
  waits_.operation_closed(slot_);
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{60});
  EXPECT_EQ(slot_.ready(), Cycles{60});
}

TEST_F(CounterWaitsTest, ACounterAtItsLimitDelaysTheInstructionUntilOneOperationCompletes) {
  EXPECT_FALSE(waits_.full(slot_, Cycles{10}));
  for (unsigned i = 0; i < 15; ++i) slot_.vmcnt.add_in_order(Cycles{40 + i});
  EXPECT_TRUE(waits_.full(slot_, Cycles{10}));
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{40});
  EXPECT_EQ(slot_.ready(), Cycles{40});
  EXPECT_EQ(slot_.group->work->activity.vmem_waits.counter, 30U);
  EXPECT_FALSE(waits_.full(slot_, Cycles{40})) << "the first operation has completed";
}

TEST_F(CounterWaitsTest, OpenOperationsAtTheLimitHoldTheWavefront) {
  for (unsigned i = 0; i < 15; ++i) slot_.lgkmcnt.open_out_of_order();
  EXPECT_TRUE(waits_.full(slot_, Cycles{10})) << "FLAT counts in both";
  EXPECT_TRUE(slot_.held_by(StallReason::lgkm_limit));
  slot_.lgkmcnt.close_out_of_order(Cycles{30}, {});
  waits_.operation_closed(slot_);
  EXPECT_TRUE(slot_.held()) << "another open one may complete first";
  for (unsigned i = 0; i < 14; ++i) slot_.lgkmcnt.close_out_of_order(Cycles{35}, {});
  waits_.operation_closed(slot_);
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{30});
  EXPECT_EQ(slot_.group->work->activity.vmem_waits.counter, 0U) << "vmcnt was not at its limit";
}

TEST_F(CounterWaitsTest, WaitsForAnOpenVectorMemoryOperationAreCounted) {
  std::array<WaitCounter::Sequence, 15> operations{};
  for (WaitCounter::Sequence& operation : operations) operation = slot_.vmcnt.open_in_order();
  EXPECT_TRUE(waits_.full(slot_, Cycles{10}));
  EXPECT_TRUE(slot_.held_by(StallReason::vm_limit));
  slot_.vmcnt.close_in_order(operations[0], Cycles{70}, {});
  waits_.operation_closed(slot_);
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(slot_.when, Cycles{70});
  EXPECT_EQ(slot_.group->work->activity.vmem_waits.counter, 60U);
}

}  // namespace
}  // namespace lacuna::test
