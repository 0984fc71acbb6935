#include "models/compute/memory/reorder_buffer.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

using namespace literals;

TEST(ReorderBuffer, ResponsesDepartInOrderOfTheRequestsOnePerCycle) {
  ReorderBuffer buffer(3);
  const struct {
    const char* what;
    Tick asks;
    Tick takes;
    Tick enters;
    Tick leaves;
  } table[] = {
      {"alone", 0_ns, 100_ns, 0_ns, 100_ns},
      {"its response arrives before the first one", 1_ns, 10_ns, 1_ns, 101_ns},
      {"likewise", 2_ns, 300_ns, 2_ns, 302_ns},
      {"no entry until the first has left", 3_ns, 10_ns, 100_ns, 303_ns},
      {"nor until the second has", 3_ns, 10_ns, 101_ns, 304_ns},
      {"the third, by one cycle", 301_ns, 10_ns, 302_ns, 312_ns},
      {"an entry is free again", 400_ns, 10_ns, 400_ns, 410_ns},
  };
  for (const auto& row : table) {
    ASSERT_TRUE(buffer.can_enter()) << row.what;
    const Tick enters = buffer.enters(row.asks);
    EXPECT_EQ(enters, row.enters) << row.what;
    const ReorderBuffer::Entry entry = buffer.enter();
    buffer.answer(entry, enters + row.takes);
    ReorderBuffer::Entry left = 99;
    Tick at;
    ASSERT_TRUE(buffer.depart(1_ns, left, at)) << row.what;
    EXPECT_EQ(left, entry) << row.what;
    EXPECT_EQ(at, row.leaves) << row.what;
  }
}

TEST(ReorderBuffer, AResponseWaitsForEarlierOnes) {
  ReorderBuffer buffer(2);
  ASSERT_TRUE(buffer.can_enter());
  const auto first = buffer.enter();
  ASSERT_TRUE(buffer.can_enter());
  const auto second = buffer.enter();
  EXPECT_FALSE(buffer.can_enter()) << "both entries are occupied, and the time of neither departure is known";
  ReorderBuffer::Entry left = 99;
  Tick at;
  buffer.answer(second, 10_ns);
  EXPECT_FALSE(buffer.depart(1_ns, left, at));
  buffer.answer(first, 50_ns);
  ASSERT_TRUE(buffer.depart(1_ns, left, at));
  EXPECT_EQ(left, first);
  EXPECT_EQ(at, 50_ns);
  ASSERT_TRUE(buffer.can_enter());
  EXPECT_EQ(buffer.enters(0_ns), 50_ns);
  ASSERT_TRUE(buffer.depart(1_ns, left, at));
  EXPECT_EQ(left, second);
  EXPECT_EQ(at, 51_ns);
}

TEST(ReorderBuffer, ABufferWithoutEntriesDoesNotExist) { EXPECT_FALSE(ReorderBuffer(0).exists()); }

}  // namespace
}  // namespace lacuna
