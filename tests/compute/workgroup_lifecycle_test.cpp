// Tests workgroups from launch to completion: initial state, barriers, release of resources, abort.
#include "models/compute/workgroup_lifecycle.h"

#include <gtest/gtest.h>

#include "tests/compute/instruction_words.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

TEST(WorkgroupLifecycle, WavefrontsStartWithTheirInitialState) {
  UnitParts p;
  const auto d = p.dispatch({kEnd}, 3);
  p.workgroups.set_apertures(0x1'0000'0000, 0x2'0000'0000);
  ResidentWorkgroup& group = p.start(*d, p.workgroups.first_cycle(Tick{99'500}));
  EXPECT_EQ(p.workgroups.workgroups(), 1U);
  EXPECT_EQ(p.workgroups.wavefronts(), 3U);
  for (unsigned i = 0; i < 3; ++i) {
    const WavefrontSlot& slot = *group.slots[i];
    EXPECT_EQ(slot.when, Cycles{100} + p.parameters.launch_latency);
    EXPECT_EQ(slot.ready(), slot.when);
    EXPECT_EQ(slot.wave.pc, UnitParts::kCode);
    EXPECT_EQ(slot.wave.read64(0), UnitParts::kData);
    EXPECT_EQ(slot.wave.shared_aperture, 0x1'0000'0000U);
    EXPECT_EQ(slot.wave.hw_id, slot.number | slot.simd->number << 4 | 2U << 8 | 1U << 13);
  }
}

TEST(WorkgroupLifecycle, ABarrierIsReleasedByTheLastArrival) {
  UnitParts p;
  const auto d = p.dispatch({kBarrier, kEnd}, 2);
  ResidentWorkgroup& group = p.start(*d);
  WavefrontSlot& first = *group.slots[0];
  WavefrontSlot& second = *group.slots[1];
  p.issue(first, Cycles{20});
  EXPECT_TRUE(first.held_by(StallReason::barrier));
  EXPECT_EQ(group.at_barrier, 1U);
  p.issue(second, Cycles{30});
  for (const WavefrontSlot* slot : {&first, &second}) {
    EXPECT_FALSE(slot->held());
    EXPECT_EQ(slot->when, Cycles{30} + p.parameters.barrier_latency);
  }
}

TEST(WorkgroupLifecycle, EndedWavefrontsDoNotCountAtABarrier) {
  UnitParts p;
  const auto d = p.dispatch({kBarrier, kEnd}, 2);
  ResidentWorkgroup& group = p.start(*d);
  WavefrontSlot& waiting = *group.slots[0];
  p.issue(waiting, Cycles{20});
  p.workgroups.end_wavefront(*group.slots[1], Cycles{40});
  EXPECT_FALSE(waiting.held());
  EXPECT_EQ(waiting.when, Cycles{20} + p.parameters.barrier_latency);
}

TEST(WorkgroupLifecycle, DoneACycleAfterTheLastWavefront) {
  UnitParts p;
  const auto d = p.dispatch({kEnd}, 2);
  const std::vector<std::uint32_t> scratch = {11, 12};
  ResidentWorkgroup& group = *p.workgroups.launch(*d, 0, scratch);
  p.workgroups.start(group, Cycles{0});
  p.workgroups.end_wavefront(*group.slots[1], Cycles{30});
  EXPECT_EQ(p.reports.count(), 0U);
  p.workgroups.end_wavefront(*group.slots[0], Cycles{25});
  p.deliver();
  EXPECT_EQ(p.listener.done, std::vector<Tick>{p.tick(31)});
  EXPECT_EQ(p.listener.scratch_slots, std::vector<std::vector<std::uint32_t>>{scratch});
  EXPECT_EQ(p.pool.resident(), 0U);
}

TEST(WorkgroupLifecycle, AnAbortedDispatchFreesItsResourcesWithoutAReport) {
  UnitParts p;
  const auto d = p.dispatch({kEnd}, 4);
  unsigned launched = 0;
  for (; p.workgroups.launch(*d, launched, {}) != nullptr; ++launched) {
    if (launched == 100) break;
  }
  ASSERT_GT(launched, 1U);
  for (ResidentWorkgroup& group : p.pool.workgroups()) {
    if (group.dispatch != nullptr) p.workgroups.start(group, Cycles{0});
  }
  EXPECT_EQ(p.workgroups.abort(*d), launched);
  EXPECT_EQ(p.pool.resident(), 0U);
  p.deliver();
  EXPECT_TRUE(p.listener.done.empty());
  EXPECT_NE(p.workgroups.launch(*d, 0, {}), nullptr);
}

}  // namespace
}  // namespace lacuna::test
