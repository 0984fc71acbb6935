// Tests issue in functional mode: one cycle per instruction, wavefronts one after the other.
#include "models/compute/issue/functional_issue.h"

#include <gtest/gtest.h>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

constexpr std::uint32_t kWait = 0xbf8c0000;  // s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)

class FunctionalIssueTest : public testing::Test {
 protected:
  UnitParts p_{UnitParts::Options{.mode = TimingMode::functional}};
  IssueStatistics statistics_;
  FunctionalIssue issue_{p_.pool, p_.fetch, p_.execution, statistics_, false};
};

TEST_F(FunctionalIssueTest, EveryInstructionTakesACycle) {
  const auto d = p_.dispatch({kMove, kScalarMove, kWait, kMove, kEnd});
  p_.start(*d, Cycles{100});
  issue_.run(Cycles{1000});
  EXPECT_EQ(p_.listener.done, std::vector<Tick>{p_.tick(105)});
  EXPECT_EQ(statistics_.wavefront_instructions, 5U);
  EXPECT_EQ(statistics_.thread_instructions, 2 * isa::kLanes + 3U) << "scalar and control instructions count one";
  EXPECT_EQ(statistics_.issued[static_cast<std::size_t>(isa::Unit::valu)], 2U);
  d->collect();
  EXPECT_EQ(d->wavefront_instructions, 5U);
  EXPECT_EQ(p_.pool.times().earliest(), kNeverCycles);
}

TEST_F(FunctionalIssueTest, StopsAtTheLimitAndContinues) {
  const auto d = p_.dispatch({kMove, kMove, kMove, kEnd});
  p_.start(*d);
  issue_.run(Cycles{2});
  EXPECT_EQ(statistics_.wavefront_instructions, 2U);
  EXPECT_EQ(p_.pool.times().earliest(), Cycles{2});
  issue_.run(Cycles{100});
  EXPECT_EQ(p_.listener.done.size(), 1U);
  EXPECT_EQ(statistics_.wavefront_instructions, 4U);
}

TEST_F(FunctionalIssueTest, WavefrontsMeetAtBarriers) {
  const auto d = p_.dispatch({kMove, kBarrier, kMove, kEnd}, 3);
  p_.start(*d);
  issue_.run(Cycles{100});
  EXPECT_EQ(p_.listener.done.size(), 1U);
  EXPECT_EQ(statistics_.wavefront_instructions, 12U);
}

TEST_F(FunctionalIssueTest, RegistersBeyondTheAllocationAreAFault) {
  const auto d = p_.dispatch({kMove, 0x7e120280, kEnd});  // v_mov_b32 v9, 0
  p_.start(*d);
  issue_.run(Cycles{100});
  ASSERT_EQ(p_.listener.faults.size(), 1U);
  EXPECT_EQ(p_.listener.faults[0].pc, UnitParts::kCode + 4);
  EXPECT_TRUE(d->failed);
}

}  // namespace
}  // namespace lacuna::test
