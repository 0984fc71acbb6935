// Tests the reports of a compute unit: times of delivery, reports that are dropped, and reports that resume a wavefront.
#include "models/compute/reports/unit_reports.h"

#include <gtest/gtest.h>

#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

const Words kProgram = {0xbf800000, 0xbf800000, 0xbf810000};  // s_nop 0; s_nop 0; s_endpgm

TEST(UnitReports, WaitForTheEndOfTheWindow) {
  UnitParts p;
  bool pending = false;
  static_cast<DeferredWork&>(p.reports).attach(pending);
  const auto d = p.dispatch(kProgram);
  p.reports.message(*d, 7, p.tick(30));
  const std::vector<std::uint32_t> slots = {4, 5};
  p.reports.workgroup_done(*d, slots, p.tick(20));
  EXPECT_TRUE(pending);
  EXPECT_TRUE(p.listener.messages.empty());
  ASSERT_EQ(p.reports.count(), 2U);
  EXPECT_EQ(p.reports.at(0), p.tick(30));
  EXPECT_EQ(p.reports.at(1), p.tick(20));
  p.deliver();
  EXPECT_EQ(p.listener.messages, std::vector<std::uint32_t>{7});
  EXPECT_EQ(p.listener.done, std::vector<Tick>{p.tick(20)});
  EXPECT_EQ(p.listener.scratch_slots, std::vector<std::vector<std::uint32_t>>{slots});
  EXPECT_EQ(p.reports.count(), 0U);
}

TEST(UnitReports, AreImmediateInFunctionalMode) {
  UnitParts p{UnitParts::Options{.mode = TimingMode::functional}};
  const auto d = p.dispatch(kProgram);
  p.reports.message(*d, 7, p.tick(30));
  EXPECT_EQ(p.listener.messages.size(), 1U);
  EXPECT_EQ(p.reports.count(), 0U);
}

TEST(UnitReports, OfADroppedDispatchAreNotDelivered) {
  UnitParts p;
  const auto d = p.dispatch(kProgram);
  const auto other = p.dispatch(kProgram);
  p.reports.message(*d, 1, p.tick(10));
  p.reports.message(*other, 2, p.tick(10));
  p.reports.drop(*d);
  p.deliver();
  EXPECT_EQ(p.listener.messages, std::vector<std::uint32_t>{2});
}

TEST(UnitReports, AFailedDispatchReportsNoMoreWorkgroups) {
  UnitParts p;
  const auto d = p.dispatch(kProgram);
  p.reports.fault(*d, std::make_unique<WavefrontFault>(), p.tick(10));
  p.reports.workgroup_done(*d, {}, p.tick(11));
  p.deliver();
  EXPECT_TRUE(d->failed);
  EXPECT_EQ(p.listener.faults.size(), 1U);
  EXPECT_TRUE(p.listener.done.empty());
}

TEST(UnitReports, ASyncReportReleasesTheWavefrontIfTheListenerLetsItPass) {
  for (const bool passes : {true, false}) {
    UnitParts p;
    p.listener.sync_passes = passes;
    const auto d = p.dispatch(kProgram);
    WavefrontSlot& slot = *p.start(*d).slots[0];
    slot.wave.event_value = 2u << 8 | 5;
    slot.hold(StallReason::sync);
    slot.publish();
    p.reports.wave_sync(slot, p.sync_unit, p.tick(10));
    slot.wave.event_value = 0;  // the report has captured the request
    EXPECT_TRUE(p.listener.syncs.empty());
    p.deliver();
    ASSERT_EQ(p.listener.syncs.size(), 1U);
    EXPECT_EQ(p.listener.syncs[0].resource, 5U);
    EXPECT_EQ(slot.held(), !passes);
  }
}

TEST(UnitReports, ChangedCodeIsFetchedAgain) {
  UnitParts p;
  const auto d = p.dispatch(kProgram);
  WavefrontSlot& slot = *p.start(*d).slots[0];
  p.issue(slot, Cycles{0});
  slot.hold(StallReason::sync);
  slot.publish();
  p.reports.code_changed(slot, p.tick(10));
  p.code_bytes[4] = std::byte{2};  // s_nop 2
  p.deliver();
  EXPECT_FALSE(slot.held());
  ASSERT_NE(slot.next, nullptr);
  EXPECT_EQ(slot.next->immediate, 2);
}

}  // namespace
}  // namespace lacuna::test
