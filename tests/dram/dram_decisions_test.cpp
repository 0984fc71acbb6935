// Tests the results of decide() for requests added by read_later() and write_later().
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/dram/schedule_steps.h"
#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using namespace test;

TEST(DramDecisions, AReadOfSeveralBurstsIsDoneWithTheLast) {
  DramSchedule schedule(small_dram());
  // Three bursts of one row have column commands at 105, 111 and 117 ns. Two bursts that cross from the end of a row to another
  // bank have column commands at 205 and 209 ns: the second activate is 2 ns later, in the other group.
  schedule.read_later(address(0, 0, 0, 0), 3 * kBurst, 100_ns, 7);
  schedule.read_later(address(1, 1, 0, 15), 2 * kBurst, 200_ns, 8);
  schedule.read_later(address(0, 0, 0, 0) + 1, kBurst, 300_ns, 9);
  EXPECT_TRUE(decided(schedule, 117_ns).empty()) << "two of three are decided";
  const auto first = decided(schedule, 118_ns);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.at(7).done, 132_ns);
  EXPECT_EQ(first.at(7).waiting, 4_ns) << "tCCDL is two cycles longer than a burst";
  const auto others = decided(schedule, 400_ns);
  EXPECT_EQ(others.size(), 2U);
  EXPECT_EQ(others.at(8).done, 224_ns);
  EXPECT_EQ(others.at(9).done, 321_ns) << "a byte further it is two bursts";
  EXPECT_EQ(schedule.statistics().bus_busy, 28_ns);
}

TEST(DramDecisions, ALaterRequestMayGoFirst) {
  // Reads are not decided before their column commands are issued: the second read is added later and arrives later, but is
  // served first.
  DramSchedule schedule(small_dram());
  open_row(schedule);
  schedule.read_later(address(1, 0, 1, 0), kBurst, 99_ns, 0);  // needs a precharge and an activate before its column command
  EXPECT_TRUE(decided(schedule, 100_ns).empty());
  schedule.read_later(address(0, 1, 1, 0), kBurst, 100_ns, 1);
  const auto reads = decided(schedule, 200_ns);
  EXPECT_EQ(reads.at(0).done, Tick{(99 + 7 + 5 + 15) * 1000});
  EXPECT_EQ(reads.at(1).done, 120_ns);
}

TEST(DramDecisions, DecisionsAreInTimeOrder) {
  DramSchedule schedule(small_dram());
  std::mt19937_64 random(3);
  std::vector<DramSchedule::Completion> completed;
  std::vector<bool> writes;
  Tick last{};
  std::size_t expected = 0;
  for (Tick now{}; now < 20_us; now += 16_ns) {
    for (unsigned i = 0; i < 3; ++i) {
      const Tick at = now + Tick{random() % 16 * 1000};
      const auto number = static_cast<std::uint32_t>(writes.size());
      writes.push_back(random() % 2 == 0);
      // Reads and writes access different bursts.
      const std::uint64_t address = (random() % 512 * 2 + writes.back()) * kBurst;
      if (writes.back()) {
        expected += !schedule.write_later(address, kBurst, at, number).has_value();
      } else {
        ++expected;
        schedule.read_later(address, kBurst, at, number);
      }
    }
    completed.clear();
    schedule.decide(now + 16_ns, completed);
    for (const auto& [number, read] : completed) {
      // A read is decided when its column command is issued, a write when the write enters its queue.
      const Tick decision = writes[number] ? read.done : read.done - schedule.answer_time();
      EXPECT_GE(decision, last) << number;
      EXPECT_LE(decision, now + 16_ns) << number;
      last = decision;
    }
    expected -= completed.size();
  }
  EXPECT_GT(expected, 0U) << "more than the channel can carry";
  EXPECT_EQ(decided(schedule, 1000_us).size(), expected);
}

TEST(DramDecisions, AReadOfAWaitingWriteIsAnsweredFromTheQueue) {
  DramSchedule forecast(small_dram());
  for (unsigned row = 0; row < 6; ++row) forecast.read(address(row, 0, 0, 0), kBurst, 100_ns);
  forecast.write(address(0, 0, 1, 0), kBurst, 100_ns);
  expect_forecasts(forecast, {{"a burst's time", 101, address(0, 0, 1, 0), 105}});
  EXPECT_EQ(forecast.statistics().forwarded, 1U);

  DramSchedule schedule(small_dram());
  keep_reads_waiting(schedule, 100_ns);
  schedule.write_later(address(0, 0, 1, 0), kBurst, 100_ns, 0);
  schedule.read_later(address(0, 0, 1, 0), kBurst, 101_ns, 1);
  schedule.read_later(address(0, 0, 1, 0), 2 * kBurst, 102_ns, 2);
  EXPECT_EQ(schedule.next_decision(), Tick{}) << "it is known already";
  const auto first = decided(schedule, 50_ns);
  ASSERT_EQ(first.size(), 1U) << "the other one's second burst is read";
  EXPECT_EQ(first.at(1).done, 105_ns);
  EXPECT_EQ(first.at(1).waiting, 0_ns);
  EXPECT_EQ(schedule.next_decision(), 100_ns);
  // The row is opened at 102 ns and used at 109 ns, tCCDS after the first read.
  EXPECT_EQ(decided(schedule, 130_ns).at(2).done, 124_ns);
  EXPECT_EQ(schedule.statistics().forwarded, 2U);
  // The read arrives after the write has been drained.
  decided(schedule, 1_us);
  schedule.read_later(address(0, 0, 1, 0), kBurst, 2_us, 3);
  EXPECT_EQ(decided(schedule, 3_us).at(3).done, 2015_ns);
  EXPECT_EQ(schedule.statistics().forwarded, 2U);
}

TEST(DramDecisions, AFullWriteQueueHoldsTheSender) {
  DramSchedule schedule(small_dram());
  std::vector<Tick> accepted;
  for (unsigned i = 0; i < 64; ++i) {
    const std::optional<Tick> known = schedule.write_later(address(0, 0, 0, i % 16), kBurst, 100_ns, i);
    EXPECT_EQ(known.has_value(), i < 8) << i;
    if (known) accepted.push_back(*known);
  }
  for (const auto& [number, write] : decided(schedule, 1_us)) {
    EXPECT_EQ(number, accepted.size());
    accepted.push_back(write.done);
    EXPECT_EQ(write.waiting, write.done - 100_ns);
  }
  ASSERT_EQ(accepted.size(), 64U);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(accepted[i], 100_ns) << i;
  // The first write leaves the queue at 100 ns, when its row is opened. The others leave at their column commands; the first of
  // these is issued at 104 ns, and each further command 6 cycles later (tCCDL).
  EXPECT_EQ(accepted[8], 101_ns);
  for (unsigned i = 9; i < 64; ++i) EXPECT_EQ(accepted[i], Tick{(104 + (i - 8) * 6 + 1) * 1000}) << i;
}

TEST(DramDecisions, AWriteOfSeveralBurstsIsAcceptedWithTheLast) {
  DramParameters p = small_dram();
  p.write_queue = 2;
  DramSchedule schedule(p);
  open_row(schedule);
  EXPECT_EQ(schedule.write_later(address(0, 0, 1, 1), 2 * kBurst, 100_ns, 0), 100_ns);
  EXPECT_EQ(schedule.write_later(address(0, 0, 1, 3), 3 * kBurst, 101_ns, 1), std::nullopt);
  // Column commands are issued at 100, 106 and 112 ns: three waiting writes enter one cycle after each.
  EXPECT_TRUE(decided(schedule, 112_ns).empty());
  const auto write = decided(schedule, 113_ns);
  ASSERT_EQ(write.size(), 1U);
  EXPECT_EQ(write.at(1).done, 113_ns);
  EXPECT_EQ(write.at(1).waiting, 12_ns);
}

TEST(DramDecisions, AWriteThatIsLateIsAcceptedWhenItIsMade) {
  DramSchedule schedule(small_dram());
  decided(schedule, 500_ns);
  EXPECT_EQ(schedule.write_later(address(0, 0, 0, 0), kBurst, 400_ns, 0), 500_ns);
  EXPECT_EQ(schedule.write_later(address(0, 0, 0, 1), kBurst, 600_ns, 0), 600_ns);
}

TEST(DramDecisions, NextDecisionIsTheTimeOfTheNextCommand) {
  DramSchedule schedule(small_dram());
  EXPECT_EQ(schedule.next_decision(), kNever);
  schedule.read_later(address(0, 0, 0, 0), kBurst, 100_ns, 0);
  EXPECT_EQ(schedule.next_decision(), 100_ns);
  EXPECT_TRUE(decided(schedule, 101_ns).empty());
  EXPECT_EQ(schedule.next_decision(), 105_ns) << "the column command";
  EXPECT_TRUE(decided(schedule, 105_ns).empty());
  EXPECT_EQ(decided(schedule, 106_ns).size(), 1U);
  EXPECT_EQ(schedule.answer_time(), 15_ns);
  EXPECT_EQ(schedule.next_decision(), kNever);
}

// Results do not depend on how far each call of decide() advances.
TEST(DramDecisions, ResultsDoNotDependOnTheStepsOfDecide) {
  const auto run = [](Tick step) {
    DramParameters p = small_dram();
    p.tREFI = 700_cycles;
    p.tRFC = 60_cycles;
    DramSchedule schedule(p);
    std::mt19937_64 random(5);
    std::vector<DramSchedule::Completion> completed;
    constexpr Tick kWindow = 128_ns;
    for (std::uint32_t window = 0; window < 40; ++window) {
      const Tick begin = kWindow * window;
      for (unsigned i = 0; i < 12; ++i) {
        const std::uint64_t address = random() % 4096 * kBurst;
        const auto length = static_cast<unsigned>(kBurst * (1 + random() % 3));
        const Tick at = begin + Tick{random() % 128 * 1000};
        if (random() % 3 == 0) {
          schedule.write_later(address, length, at, 100 * window + i);
        } else {
          schedule.read_later(address, length, at, 100 * window + i);
        }
      }
      for (Tick until = begin + step; until <= begin + kWindow; until += step) {
        EXPECT_TRUE(schedule.next_decision() < kNever);
        schedule.decide(until, completed);
      }
    }
    schedule.finish();
    schedule.decide(1000_us, completed);
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> reads;
    for (const auto& [number, read] : completed) reads[number] = {read.done.ps, read.waiting.ps};
    const DramStatistics& s = schedule.statistics();
    reads[~0U] = {s.row_hits, s.queueing.ps};
    return reads;
  };
  const auto expected = run(1_ns);
  EXPECT_EQ(run(4_ns), expected);
  EXPECT_EQ(run(128_ns), expected);
}

TEST(DramDecisions, RowsAreCountedByTheCommandsThatWereNeeded) {
  DramParameters p = small_dram();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  DramSchedule schedule(p);
  const DramStatistics& s = schedule.statistics();
  struct Found {
    std::uint64_t hits, empty, conflicts;
  };
  const auto expect = [&](Tick until, Found found) {
    decided(schedule, until);
    EXPECT_EQ(s.row_hits, found.hits) << until.ps;
    EXPECT_EQ(s.row_empty, found.empty) << until.ps;
    EXPECT_EQ(s.row_conflicts, found.conflicts) << until.ps;
  };
  schedule.read_later(address(0, 0, 0, 0), kBurst, 100_ns, 0);
  expect(105_ns, {0, 0, 0});
  expect(106_ns, {0, 1, 0});
  // Another row is open when both reads arrive; the second one finds the row that was opened for the first.
  schedule.read_later(address(1, 0, 0, 0), kBurst, 200_ns, 1);
  schedule.read_later(address(1, 0, 0, 1), kBurst, 200_ns, 2);
  expect(300_ns, {1, 1, 1});
  // Another row is open when a write arrives; a later read finds the row that was opened for the write.
  schedule.write_later(address(2, 0, 0, 0), kBurst, 400_ns, 3);
  schedule.read_later(address(2, 0, 0, 1), kBurst, 420_ns, 4);
  expect(500_ns, {2, 1, 2});
  // A refresh closes the row in the cycle in which the requests arrive.
  schedule.read_later(address(2, 0, 0, 1), kBurst, 1000_ns, 5);
  schedule.read_later(address(2, 0, 0, 2), kBurst, 1000_ns, 6);
  expect(1200_ns, {3, 2, 2});
}

TEST(DramDecisions, WaitingIsTheTimeBeyondThatOfAnIdleChannel) {
  DramSchedule schedule(small_dram());
  schedule.read_later(address(0, 0, 0, 0), kBurst, 100_ns, 0);
  schedule.read_later(address(0, 0, 0, 1), kBurst, 100_ns, 1);  // a row hit: column command at 111 ns instead of 100 ns
  schedule.read_later(address(1, 0, 0, 1), kBurst, 100_ns,
                      2);  // precharge at 115 ns instead of 100 ns, activate 2 ns after its earliest time
  const auto reads = decided(schedule, 1_us);
  EXPECT_EQ(reads.at(0).waiting, 0_ns);
  EXPECT_EQ(reads.at(1).waiting, 11_ns);
  EXPECT_EQ(reads.at(2).waiting, 17_ns);
  EXPECT_EQ(schedule.statistics().queueing, 28_ns);
}

TEST(DramDecisions, ResetDropsWaitingRequests) {
  DramSchedule schedule(small_dram());
  keep_reads_waiting(schedule, 100_ns);
  schedule.write_later(address(0, 0, 1, 0), kBurst, 100_ns, 0);
  schedule.read_later(address(0, 0, 1, 0), kBurst, 101_ns, 1);  // forwarded from the waiting write
  decided(schedule, 50_ns);
  schedule.read_later(address(0, 0, 1, 0), kBurst, 102_ns, 2);  // forwarded from the waiting write
  schedule.reset();
  EXPECT_EQ(schedule.next_decision(), kNever);
  EXPECT_TRUE(decided(schedule, 10_ns).empty());
  schedule.read_later(address(0, 0, 1, 0), kBurst, 20_ns, 3);
  const auto reads = decided(schedule, 100_us);
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads.at(3).done, 40_ns);
}

}  // namespace
}  // namespace lacuna
