#include "models/dram/detail/inline_scheduling.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using Requester = CommandScheduler::Requester;
using Command = CommandScheduler::Command;
using Cycle = CommandScheduler::Cycle;
using Cycles = std::vector<Cycle>;

struct Controller {
  explicit Controller(const DramParameters& p, DramChannelPlace place = {})
      : parameters(p), commands(parameters, RefreshTimes(p.tREFI.n, place, true), statistics) {}
  void read(std::uint32_t bank, std::uint64_t row, Cycle at) {
    commands.read_later({0, row, bank}, at, static_cast<Requester>(columns.size()));
    columns.push_back(0);
  }
  /// Adds a write and returns the number of its burst.
  std::uint64_t write(std::uint32_t bank, std::uint64_t row, Cycle at) {
    commands.write({++writes, row, bank}, at);
    return writes;
  }
  /// Cycles in which the column commands of the reads added since the last call are issued, in the order of addition.
  Cycles served() {
    commands.finish();
    for (const CommandScheduler::Decision& decision : commands.decisions()) columns[decision.requester] = decision.at;
    commands.clear_decisions();
    return std::exchange(columns, {});
  }
  /// Cycle of a write's column command.
  Cycle written(std::uint64_t burst) {
    while (commands.is_pending(burst)) commands.advance(commands.decided_until() + 1);
    return commands.decided_until() - 1;
  }

  DramParameters parameters;
  DramStatistics statistics;
  CommandScheduler commands;
  Cycles columns;
  std::uint64_t writes = 0;
};

TEST(CommandScheduler, OneReadAtATime) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  EXPECT_EQ(c.served(), Cycles{105}) << "activate, tRCD";
  c.read(0, 0, 200);
  EXPECT_EQ(c.served(), Cycles{200}) << "the row is open";
  c.read(0, 1, 300);
  EXPECT_EQ(c.served(), Cycles{300 + 7 + 5}) << "precharge, activate";
}

TEST(CommandScheduler, ARowStaysOpenWhileAWaitingReadCanUseIt) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  c.read(0, 1, 101);  // served after the next read: precharge at 115, activate at 124
  c.read(0, 0, 102);  // column command tCCDL after the first read's
  EXPECT_EQ(c.served(), (Cycles{105, 129, 111}));
}

TEST(CommandScheduler, AReadCanBeServedInItsArrivalCycle) {
  // The open row may be closed from 115 on, for a waiting read of another row.
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  c.read(0, 1, 101);
  c.read(0, 0, 115);
  EXPECT_EQ(c.served(), (Cycles{105, 119 + 7 + 5, 115})) << "keeps it open until tRTP after its column command";
  Controller later(test::small_dram());
  later.read(0, 0, 100);
  later.read(0, 1, 101);
  later.read(0, 0, 116);
  EXPECT_EQ(later.served(), (Cycles{105, 129, 124 + 24 + 5})) << "has it opened again, tRC after the activate of the other";
}

TEST(CommandScheduler, AReadyBankGoesFirst) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  c.read(0, 1, 100);
  c.read(2, 0, 101);  // another group: activate at 102, column command 4 cycles after the first
  EXPECT_EQ(c.served(), (Cycles{105, 129, 109}));
}

TEST(CommandScheduler, InOrderNothingOvertakes) {
  DramParameters p = test::small_dram();
  p.scheduler = DramScheduler::fcfs;
  Controller c(p);
  c.read(0, 0, 100);
  c.read(0, 1, 100);
  c.read(2, 0, 101);  // its commands begin at 130
  EXPECT_EQ(c.served(), (Cycles{105, 129, 135}));
}

TEST(CommandScheduler, RequestsMayBeMadeInAnyOrder) {
  Controller c(test::small_dram());
  c.read(0, 0, 102);
  c.read(0, 1, 101);
  c.read(0, 0, 100);
  EXPECT_EQ(c.served(), (Cycles{111, 129, 105}));
}

TEST(CommandScheduler, AReadWaitsForTheBusToTurn) {
  for (const auto& [bank, after] : std::vector<std::pair<std::uint32_t, Cycle>>{{2, 3}, {0, 5}}) {
    Controller c(test::small_dram());
    c.read(2, 0, 50);
    c.served();
    c.write(0, 0, 100);  // column command at 104, data until 111
    c.read(bank, 0, 106);
    EXPECT_EQ(c.served(), Cycles{111 + after}) << "tWTRS in another group, tWTR in its own";
    EXPECT_EQ(c.statistics.write_drains, 1U);
  }
}

TEST(CommandScheduler, WritesGoFirstFromTheHighWatermarkToTheLow) {
  Controller c(test::small_dram());
  c.read(2, 0, 50);
  c.served();
  // Reads of different rows of one bank are always waiting; writes access an open row.
  for (unsigned row = 0; row < 6; ++row) c.read(0, row, 100);
  for (unsigned i = 0; i < 4; ++i) c.write(2, 0, 102);
  c.commands.advance(140);
  EXPECT_EQ(c.statistics.write_drains, 0U) << "four of eight wait";
  const std::uint64_t last = c.write(2, 0, 140);
  c.commands.advance(141 + 4 * 6);
  EXPECT_EQ(c.statistics.write_drains, 1U);
  EXPECT_EQ(c.statistics.row_hits, 4U) << "until there are fewer than a quarter of eight: one";
  EXPECT_TRUE(c.commands.is_pending(last));
  c.served();
  EXPECT_EQ(c.statistics.row_hits, 5U) << "when no read waits";
  EXPECT_FALSE(c.commands.is_pending(last));
}

// When a read is served and leaves the read queue empty, the write to another bank can open its row only in the next cycle:
// whether reads or writes are served is decided at the beginning of a cycle.
TEST(CommandScheduler, TheKindThatIsServedIsDecidedOnceACycle) {
  DramParameters p = test::small_dram();
  p.tRCDWR = 30_cycles;
  Controller c(p);
  c.read(0, 0, 100);
  c.served();
  c.read(0, 0, 200);
  const std::uint64_t write = c.write(2, 0, 200);
  EXPECT_EQ(c.written(write), 201 + 30U);
}

// The column command may follow the activate after five cycles for the read, after four for the write. The read follows tWTR
// after the write's data.
TEST(CommandScheduler, AWriteOfTheSameRowGoesBeforeTheReadThatItWasOpenedForWhenItIsReadyEarlier) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  const std::uint64_t write = c.write(0, 0, 101);
  EXPECT_EQ(c.written(write), 104U);
  EXPECT_EQ(c.served(), Cycles{104 + 3 + 4 + 5});
  // If both are ready, the older one goes first.
  DramParameters p = test::small_dram();
  p.tRCDWR = p.tRCDRD;
  Controller same(p);
  same.read(0, 0, 100);
  same.write(0, 0, 101);
  EXPECT_EQ(same.served(), Cycles{105});
}

TEST(CommandScheduler, DecisionsSayWhatAReadNeededFirst) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  c.read(0, 0, 101);
  c.read(0, 1, 102);
  c.read(2, 0, 103);
  c.commands.advance(1000);
  const std::vector<CommandScheduler::Decision>& decisions = c.commands.decisions();
  ASSERT_EQ(decisions.size(), 4U);
  const CommandScheduler::Decision expected[] = {
      {0, Command::activate, 105}, {3, Command::activate, 109}, {1, Command::column, 113}, {2, Command::precharge, 129}};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(decisions[i].requester, expected[i].requester) << i;
    EXPECT_EQ(decisions[i].first, expected[i].first) << i;
    EXPECT_EQ(decisions[i].at, expected[i].at) << i;
  }
  c.commands.clear_decisions();
  EXPECT_TRUE(c.commands.decisions().empty());
}

TEST(CommandScheduler, AWriteEntersInTheCycleAfterAnEntryWasFreed) {
  DramParameters p = test::small_dram();
  p.write_queue = 1;
  Controller c(p);
  c.read(0, 0, 50);
  c.served();
  EXPECT_TRUE(c.commands.has_room_for_writes(1));
  EXPECT_FALSE(c.commands.has_room_for_writes(2));
  // Requests of the open row stay in the queue until their column commands at 100, 106 and 112, tCCDL apart. The other requests
  // leave when their rows are opened.
  for (Requester i = 0; i < 3; ++i) c.commands.write({i, 0, 0}, 100, i);
  for (Requester i = 3; i < 5; ++i) c.commands.write({i, 0, i - 1}, 100, i);
  EXPECT_FALSE(c.commands.has_room_for_writes(1));
  c.commands.advance(1000);
  EXPECT_TRUE(c.commands.has_room_for_writes(1));
  Cycles entered;
  for (const CommandScheduler::Decision& decision : c.commands.decisions()) {
    EXPECT_EQ(decision.requester, entered.size());
    EXPECT_EQ(decision.first, Command::none);
    entered.push_back(decision.at);
  }
  EXPECT_EQ(entered, (Cycles{100, 101, 107, 113, 114}));
}

TEST(CommandScheduler, AWriteEnteringInTheCurrentCycleIsReported) {
  Controller c(test::small_dram());
  c.commands.write({0, 0, 0}, 100, 7);
  c.commands.advance(99);
  EXPECT_TRUE(c.commands.decisions().empty());
  c.commands.advance(100);
  ASSERT_EQ(c.commands.decisions().size(), 1U);
  EXPECT_EQ(c.commands.decisions().front().requester, 7U);
  EXPECT_EQ(c.commands.decisions().front().at, 100U);
}

// A read and a write of two closed banks could issue their column commands in the same cycle: the older request goes first, the
// other one after the bus turnaround.
TEST(CommandScheduler, RequestsOfACycleEnterInTheOrderOfTheCalls) {
  DramParameters p = test::small_dram();
  p.tRCDRD = 6_cycles;
  p.tRCDWR = 5_cycles;
  p.tRRDS = 1_cycles;
  Controller read_first(p);
  read_first.read(0, 0, 100);                                // activate at 100
  const std::uint64_t second = read_first.write(2, 0, 100);  // activate at 101, when no read is queued
  EXPECT_EQ(read_first.written(second), 106U + 14);
  EXPECT_EQ(read_first.served(), Cycles{106});
  Controller write_first(p);
  const std::uint64_t first = write_first.write(2, 0, 100);
  write_first.read(0, 0, 100);
  EXPECT_EQ(write_first.written(first), 106U);
  EXPECT_EQ(write_first.served(), Cycles{106 + 10});
}

TEST(CommandScheduler, AWriteThatWaitedForRoomGoesBeforeANewRead) {
  DramParameters p = test::small_dram();
  p.write_queue = 1;
  p.tRCDRD = 15_cycles;
  p.tRCDWR = 16_cycles;
  p.tRRDS = p.tRRDL = 1_cycles;
  Controller c(p);
  c.read(3, 0, 20);
  c.served();
  c.read(0, 0, 100);                              // activate at 101
  c.write(3, 0, 99);                              // a row hit: leaves the queue at 99
  const std::uint64_t waits = c.write(2, 0, 99);  // enters at 100, activate at 100
  EXPECT_EQ(c.written(waits), 116U);
  EXPECT_EQ(c.served(), Cycles{116 + 10});
}

TEST(CommandScheduler, NextDecisionIsTheTimeOfTheNextCommand) {
  Controller c(test::small_dram());
  EXPECT_EQ(c.commands.next_decision(), CommandScheduler::kNever);
  c.read(0, 0, 100);
  EXPECT_EQ(c.commands.next_decision(), 100U) << "it arrives";
  c.commands.advance(100);
  EXPECT_EQ(c.commands.next_decision(), 100U) << "activate";
  c.commands.advance(101);
  EXPECT_EQ(c.commands.next_decision(), 105U) << "column";
  c.commands.advance(105);
  EXPECT_TRUE(c.commands.decisions().empty());
  EXPECT_EQ(c.commands.next_decision(), 105U);
  c.commands.advance(106);
  EXPECT_EQ(c.commands.decisions().size(), 1U);
  EXPECT_EQ(c.commands.next_decision(), CommandScheduler::kNever);
  c.write(0, 0, 200);
  EXPECT_EQ(c.commands.next_decision(), 200U);
  c.commands.advance(200);
  EXPECT_EQ(c.commands.next_decision(), 200U) << "it is served when no read waits";
  c.commands.advance(201);
  EXPECT_EQ(c.commands.next_decision(), CommandScheduler::kNever);
}

TEST(CommandScheduler, TheNextDecisionIsNotAfterARefresh) {
  DramParameters p = test::small_dram();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  Controller c(p);
  c.read(0, 0, 998);
  c.commands.advance(999);
  EXPECT_EQ(c.commands.next_decision(), 1000U) << "the column would be at 1003";
  EXPECT_EQ(c.served(), Cycles{998 + 15 + 67 + 5});
}

TEST(CommandScheduler, ARequestThatIsLateArrivesWhenItIsMade) {
  Controller c(test::small_dram());
  c.commands.advance(500);
  c.read(0, 0, 100);
  EXPECT_EQ(c.served(), Cycles{505});
}

TEST(CommandScheduler, ALateReadIsNoForecastError) {
  Controller c(test::small_dram());
  c.commands.advance(500);
  c.commands.read({0, 0, 0}, 100, 105);
  c.commands.finish();
  EXPECT_EQ(c.commands.owed(), 0);
}

TEST(CommandScheduler, ErrorsOfForecastsAreOwedToLaterReads) {
  Controller c(test::small_dram());
  c.commands.read({0, 0, 0}, 100, 105);
  c.commands.read({1, 0, 0}, 100, 105);  // served at 111, 6 cycles later than forecast
  c.commands.read({2, 0, 0}, 100, 120);  // served at 117, 3 cycles earlier than forecast
  c.read(0, 0, 100);                     // a read without forecast
  EXPECT_EQ(c.served(), Cycles{123});
  EXPECT_EQ(c.commands.owed(), 6 - 3);
  c.commands.pay(2);
  EXPECT_EQ(c.commands.owed(), 1);
}

TEST(CommandScheduler, ResetDropsWaitingRequests) {
  Controller c(test::small_dram());
  c.read(0, 0, 100);
  const std::uint64_t write = c.write(0, 1, 100);
  c.commands.advance(103);
  c.commands.reset();
  c.columns.clear();
  EXPECT_EQ(c.commands.waiting(), 0U);
  EXPECT_EQ(c.commands.waiting_reads(), 0U);
  EXPECT_FALSE(c.commands.is_pending(write));
  EXPECT_EQ(c.commands.decided_until(), 0U);
  EXPECT_EQ(c.commands.next_decision(), CommandScheduler::kNever);
  c.read(0, 0, 10);
  EXPECT_EQ(c.served(), Cycles{15});
}

TEST(CommandScheduler, RefreshWaitsForTrasAndClosesRows) {
  DramParameters p = test::small_dram();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  Controller c(p);
  c.read(0, 0, 990);  // activate at 990, column command at 995, precharge from 1005 on
  c.read(0, 0, 1001);
  EXPECT_EQ(c.served(), (Cycles{995, 1005 + 67 + 5}));
  c.commands.advance(10'500);
  EXPECT_EQ(c.statistics.refreshes, 10U);
}

}  // namespace
}  // namespace lacuna
