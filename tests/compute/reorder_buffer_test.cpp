#include "models/compute/reorder_buffer.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

using namespace literals;

TEST(ReorderBuffer, AnswersLeaveInTheOrderOfTheRequestsOneACycle) {
  ReorderBuffer buffer(3);
  const struct {
    const char* what;
    Tick asks;
    Tick takes;
    Tick enters;
    Tick leaves;
  } table[] = {
      {"alone", 0_ns, 100_ns, 0_ns, 100_ns},
      {"its answer is there before that of the first", 1_ns, 10_ns, 1_ns, 101_ns},
      {"likewise", 2_ns, 300_ns, 2_ns, 302_ns},
      {"no entry until the first has left", 3_ns, 10_ns, 100_ns, 303_ns},
      {"nor until the second has", 3_ns, 10_ns, 101_ns, 304_ns},
      {"the third, by one cycle", 301_ns, 10_ns, 302_ns, 312_ns},
      {"an entry is free again", 400_ns, 10_ns, 400_ns, 410_ns},
  };
  for (const auto& row : table) {
    const Tick enters = buffer.enter(row.asks);
    EXPECT_EQ(enters, row.enters) << row.what;
    EXPECT_EQ(buffer.leave(enters + row.takes, 1_ns), row.leaves) << row.what;
  }
}

TEST(ReorderBuffer, WithoutEntriesItDoesNothing) {
  ReorderBuffer buffer(0);
  EXPECT_EQ(buffer.enter(5_ns), 5_ns);
  EXPECT_EQ(buffer.leave(50_ns, 1_ns), 50_ns);
  EXPECT_EQ(buffer.leave(20_ns, 1_ns), 20_ns);
}

}  // namespace
}  // namespace lacuna
