// Tests completions, faults and failures that are stored until the packet processor's thread handles them, and warnings.
#include "models/command/dispatch_reports.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

Dispatch dispatch_of(unsigned slot, std::uint64_t packet) {
  Dispatch d;
  d.queue_slot = slot;
  d.packet_index = packet;
  d.kernel = "kernel";
  return d;
}

TEST(DispatchReports, ArriveInOrder) {
  DispatchReports reports;
  EXPECT_TRUE(reports.empty());
  reports.add_completion(1, 7);
  reports.add_completion(0, 3);
  EXPECT_FALSE(reports.empty());
  EXPECT_EQ(reports.next_completion()->packet, 7U);
  EXPECT_EQ(reports.next_completion()->slot, 0U);
  EXPECT_FALSE(reports.next_completion());
}

TEST(DispatchReports, TheFirstFaultOfADispatchIsKnown) {
  DispatchReports reports;
  EXPECT_FALSE(reports.has_fault(dispatch_of(0, 3)));
  reports.add_fault(dispatch_of(0, 3), {.code = 2, .what = {}, .where = {}}, "first");
  EXPECT_TRUE(reports.has_fault(dispatch_of(0, 3)));
  EXPECT_FALSE(reports.has_fault(dispatch_of(0, 4)));
  const auto fault = reports.next_fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->fault.code, 2U);
  EXPECT_EQ(fault->text, "first");
  EXPECT_FALSE(reports.has_fault(dispatch_of(0, 3)));
}

TEST(DispatchReports, DroppedReportsDoNotArrive) {
  DispatchReports reports;
  for (const unsigned slot : {0U, 1U}) {
    reports.add_completion(slot, 5);
    reports.add_fault(dispatch_of(slot, 6), {}, "");
    reports.add_failure({.slot = slot, .packet = 7, .refusal = {.error = 12, .why = "why"}});
  }
  reports.drop(0);
  EXPECT_EQ(reports.next_completion()->slot, 1U);
  EXPECT_EQ(reports.next_fault()->slot, 1U);
  EXPECT_FALSE(reports.empty());
  EXPECT_EQ(reports.next_failure()->slot, 1U);
  EXPECT_FALSE(reports.next_failure());
  EXPECT_TRUE(reports.empty());
  reports.add_completion(2, 0);
  reports.clear();
  EXPECT_TRUE(reports.empty());
}

TEST(DispatchReports, WarnsOncePerInstruction) {
  DispatchReports reports;
  EXPECT_TRUE(reports.is_new_warning(dispatch_of(0, 0), 0x100));
  EXPECT_FALSE(reports.is_new_warning(dispatch_of(1, 9), 0x100));
  EXPECT_TRUE(reports.is_new_warning(dispatch_of(0, 0), 0x104));
  reports.clear();
  EXPECT_FALSE(reports.is_new_warning(dispatch_of(0, 0), 0x104));
}

}  // namespace
}  // namespace lacuna
