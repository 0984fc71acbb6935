#include "models/dram/command_scheduler.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using Cycle = CommandScheduler::Cycle;

const auto parameters = test::small_dram;

struct Controller {
  explicit Controller(const DramParameters& p, DramChannelPlace place = {})
      : parameters(p), commands(parameters, RefreshTimes(p.tREFI.n, place, true), statistics) {}
  void read(std::uint32_t bank, std::uint64_t row, Cycle at) { commands.read({0, row, bank}, at, 0); }
  void write(std::uint32_t bank, std::uint64_t row, Cycle at) { commands.write({1, row, bank}, at, at); }
  /// The sum of the cycles of the reads' column commands, since the last call.
  std::int64_t columns() {
    commands.finish();
    const std::int64_t sum = commands.owed();
    commands.pay(sum);
    return sum;
  }

  DramParameters parameters;
  DramStatistics statistics;
  CommandScheduler commands;
};

TEST(CommandScheduler, OneReadAtATime) {
  Controller c(parameters());
  c.read(0, 0, 100);
  EXPECT_EQ(c.columns(), 105) << "activate, tRCD";
  c.read(0, 0, 200);
  EXPECT_EQ(c.columns(), 200) << "the row is open";
  c.read(0, 1, 300);
  EXPECT_EQ(c.columns(), 300 + 7 + 5) << "precharge, activate";
}

TEST(CommandScheduler, ARowIsNotClosedWhileAReadThatWaitsCanUseIt) {
  Controller c(parameters());
  c.read(0, 0, 100);  // 105
  c.read(0, 1, 101);  // behind the next: precharge at 115, activate at 124, column at 129
  c.read(0, 0, 102);  // 111, tCCDL
  EXPECT_EQ(c.columns(), 105 + 129 + 111);
}

TEST(CommandScheduler, AReadyBankGoesBeforeOneThatWaits) {
  Controller c(parameters());
  c.read(0, 0, 100);  // 105
  c.read(0, 1, 100);  // 129
  c.read(2, 0, 101);  // another group: activate at 102, column 4 after the first
  EXPECT_EQ(c.columns(), 105 + 129 + 109);
}

TEST(CommandScheduler, InOrderNothingOvertakes) {
  DramParameters p = parameters();
  p.scheduler = DramScheduler::fcfs;
  Controller c(p);
  c.read(0, 0, 100);  // 105
  c.read(0, 1, 100);  // 129
  c.read(2, 0, 101);  // begins at 130
  EXPECT_EQ(c.columns(), 105 + 129 + 135);
}

TEST(CommandScheduler, AReadWaitsForTheBusToTurn) {
  for (const auto& [bank, after] : std::vector<std::pair<std::uint32_t, Cycle>>{{2, 3}, {0, 5}}) {
    Controller c(parameters());
    c.read(2, 0, 50);
    c.columns();
    c.write(0, 0, 100);  // column at 104, data until 111
    c.read(bank, 0, 106);
    EXPECT_EQ(c.columns(), 111 + after) << "tWTRS in another group, tWTR in its own";
    EXPECT_EQ(c.statistics.write_drains, 1U);
  }
}

TEST(CommandScheduler, WritesGoFirstFromTheHighWatermarkToTheLow) {
  Controller c(parameters());
  c.read(2, 0, 50);
  c.columns();
  // Reads of other rows of one bank wait all the time; writes of an open row.
  for (unsigned row = 0; row < 6; ++row) c.read(0, row, 100);
  for (unsigned i = 0; i < 4; ++i) c.write(2, 0, 102);
  c.commands.advance(140);
  EXPECT_EQ(c.statistics.write_drains, 0U) << "four of eight wait";
  c.write(2, 0, 140);
  c.commands.advance(141 + 4 * 6);
  EXPECT_EQ(c.statistics.write_drains, 1U);
  EXPECT_EQ(c.statistics.row_hits, 4U) << "until there are fewer than a quarter of eight: one";
  EXPECT_TRUE(c.commands.is_pending(1));
  c.columns();
  EXPECT_EQ(c.statistics.row_hits, 5U) << "when no read waits";
  EXPECT_FALSE(c.commands.is_pending(1));
}

TEST(CommandScheduler, ARequestThatIsLateIsServedLateAndWouldNotHaveBeen) {
  Controller c(parameters());
  c.commands.advance(500);
  c.commands.read({0, 0, 0}, 100, 105);
  c.commands.finish();
  EXPECT_EQ(c.commands.owed(), 0);
}

TEST(CommandScheduler, RefreshWaitsForTrasAndClosesRows) {
  DramParameters p = parameters();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  Controller c(p);
  c.read(0, 0, 990);  // activate 990, column 995, precharge from 1005 on
  c.read(0, 0, 1001);
  EXPECT_EQ(c.columns(), 995 + (1005 + 67 + 5));
  c.commands.advance(10'500);
  EXPECT_EQ(c.statistics.refreshes, 10U);
}

}  // namespace
}  // namespace lacuna
