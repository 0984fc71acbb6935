// Tests snapshots of resident wavefronts: positions, wait reasons, observations and resident cycles.
#include "models/compute/wavefront_inspector.h"

#include <gtest/gtest.h>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

class WavefrontInspectorTest : public testing::Test {
 protected:
  std::vector<WavefrontSnapshot> snapshot() {
    std::vector<WavefrontSnapshot> wavefronts;
    inspector_.take_snapshot(Cycles{50}, wavefronts);
    return wavefronts;
  }

  UnitParts p_;
  WavefrontInspector inspector_{p_.place, isa::Target::gfx803, p_.pool, p_.code};
};

TEST_F(WavefrontInspectorTest, WavefrontsAreAtTheInstructionTheyWaitIn) {
  const auto d = p_.dispatch({kNop, kBarrier, kEnd}, 2);
  ResidentWorkgroup& group = p_.start(*d);
  p_.issue(*group.slots[1], Cycles{20});
  p_.issue(*group.slots[1], Cycles{24});
  const auto wavefronts = snapshot();
  ASSERT_EQ(wavefronts.size(), 2U);
  for (const WavefrontSnapshot& w : wavefronts) {
    EXPECT_EQ(w.dispatch, d.get());
    EXPECT_EQ(w.unit->place().index, p_.place.index);
    EXPECT_EQ(w.wavefronts, 2U);
    EXPECT_EQ(w.at_barrier, 1U);
    EXPECT_EQ(w.work_items, isa::kLanes);
    const bool waits = w.wave_in_group == 1;
    EXPECT_EQ(w.wait, waits ? WavefrontWait::barrier : WavefrontWait::none);
    EXPECT_EQ(w.pc, UnitParts::kCode + (waits ? 4 : 0));
  }
}

TEST_F(WavefrontInspectorTest, EachStallReasonIsReportedAsItsKindOfWait) {
  const auto d = p_.dispatch({kNop, kEnd});
  WavefrontSlot& slot = *p_.start(*d).slots[0];
  const struct {
    StallReason reason;
    WavefrontWait wait;
  } table[] = {{StallReason::fetch, WavefrontWait::fetch},        {StallReason::vmcnt, WavefrontWait::memory},
               {StallReason::lgkmcnt, WavefrontWait::memory},     {StallReason::vm_limit, WavefrontWait::counter},
               {StallReason::lgkm_limit, WavefrontWait::counter}, {StallReason::barrier, WavefrontWait::barrier},
               {StallReason::sync, WavefrontWait::sync},          {StallReason::fault, WavefrontWait::fault},
               {StallReason::registers, WavefrontWait::registers}};
  for (const auto& row : table) {
    slot.hold(row.reason);
    EXPECT_EQ(snapshot().front().wait, row.wait);
    slot.release(row.reason);
  }
  EXPECT_EQ(snapshot().front().wait, WavefrontWait::none);
}

TEST_F(WavefrontInspectorTest, ObservationFollowsTheInstructionsExecutedAhead) {
  const auto d = p_.dispatch({kNop, kNop, 0xbf82ffff});  // s_branch to itself
  p_.start(*d);
  WavefrontSnapshot w = snapshot().front();
  inspector_.observe(w, 100);
  ASSERT_TRUE(w.observation.has_value());
  EXPECT_EQ(w.observation->end, WavefrontObservation::End::repeats);
}

TEST_F(WavefrontInspectorTest, InstructionsAsText) {
  const auto d = p_.dispatch({kBarrier, 0xfc000000});
  EXPECT_EQ(inspector_.instruction_text(UnitParts::kCode), "s_barrier");
  EXPECT_NE(inspector_.instruction_text(UnitParts::kCode + 4).find("fc000000"), std::string::npos);
}

TEST_F(WavefrontInspectorTest, ResidentCyclesSoFar) {
  const auto d = p_.dispatch({kNop, kEnd});
  WavefrontSlot& slot = *p_.start(*d, Cycles{10}).slots[0];
  p_.issue(slot, Cycles{20});
  KernelActivity activity;
  inspector_.add_resident(*d, activity);
  EXPECT_EQ(activity.classes[0].resident, slot.accounted.n - 10);
  EXPECT_GT(activity.classes[0].resident, 0U);
}

}  // namespace
}  // namespace lacuna::test
