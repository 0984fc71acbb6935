#include "models/dram/dram_schedule.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBurst = 64;
constexpr std::uint64_t kRow = 1024;  // of a bank; groups follow rows, then banks

const auto parameters = test::small_dram;

constexpr std::uint64_t address(unsigned row, unsigned bank, unsigned group, unsigned column) {
  return ((row * 2 + bank) * 2 + group) * kRow + column * kBurst;
}

struct Step {
  const char* what;
  std::uint64_t at;  // ns
  std::uint64_t address;
  std::uint64_t done;  // ns
};

void check(DramSchedule& schedule, const std::vector<Step>& steps) {
  for (const Step& s : steps)
    EXPECT_EQ(schedule.read(s.address, kBurst, Tick{s.at * 1000}).done, Tick{s.done * 1000}) << s.what;
}

TEST(DramSchedule, ColumnCommandsOfAGroupAreFurtherApart) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens a row: 5 + 11 + 4", 100, address(0, 0, 0, 0), 120},
                   {"opens one in the other group", 100, address(0, 0, 1, 0), 124},  // activate at 102, column at 107 -> 109
                   {"hit, 10 cycles later: alone", 200, address(0, 0, 0, 1), 215},
                   {"same group: tCCDL", 200, address(0, 0, 0, 2), 221},
                   {"other group: the bus has two cycles before 206 and two from 210 on", 200, address(0, 0, 1, 1), 223}});
}

TEST(DramSchedule, ActivatesKeepTheirDistance) {
  DramSchedule schedule(parameters());
  // Four banks at once: activates at 0, 2 (other group), 4 (tRRDS; same group as the first, tRRDL long past), 6.
  check(schedule, {{"first", 100, address(0, 0, 0, 0), 120},
                   {"other group", 100, address(0, 0, 1, 0), 124},
                   {"second bank of the first group", 100, address(0, 1, 0, 0), 128},
                   {"second bank of the other", 100, address(0, 1, 1, 0), 132}});
  // The fifth within tFAW of the first: a conflict whose precharge (tRAS) at 115 would let it activate at 124 (tRC).
  check(schedule, {{"fifth waits for the window: activate at 130", 100, address(1, 0, 0, 0), 150}});
}

// Activate 100, column 105: the row may be closed at 109 (tRTP) or at 115 (tRAS), whichever is later.
TEST(DramSchedule, ARowStaysOpenAtLeastTras) {
  DramParameters p = parameters();
  p.tRC = p.tRAS;  // bounds nothing
  for (const Step& conflict : {Step{"precharge 115, activate 122, column 127", 101, address(1, 0, 0, 0), 142},
                               Step{"as soon as the row may be closed", 115, address(1, 0, 0, 0), 142},
                               Step{"a cycle later", 116, address(1, 0, 0, 0), 143}}) {
    DramSchedule schedule(p);
    check(schedule, {{"opens", 100, address(0, 0, 0, 0), 120}, conflict});
  }
}

// A precharge at 115 would allow an activate at 122.
TEST(DramSchedule, ActivatesOfABankAreAtLeastTrcApart) {
  for (const Step& conflict :
       {Step{"activate 124, column 129", 101, address(1, 0, 0, 0), 144}, Step{"precharge 117", 117, address(1, 0, 0, 0), 144},
        Step{"a cycle later", 118, address(1, 0, 0, 0), 145}}) {
    DramSchedule schedule(parameters());
    check(schedule, {{"opens", 100, address(0, 0, 0, 0), 120}, conflict});
  }
}

TEST(DramSchedule, ARowHitGoesBeforeAPrechargeThatIsBooked) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens", 100, address(0, 0, 0, 0), 120},
                   {"conflict: precharge at 115", 100, address(1, 0, 0, 0), 144},
                   {"hit of the open row, column at 111, tRTP before the precharge", 101, address(0, 0, 0, 1), 126},
                   {"another, tCCDL after it: the precharge moves to 121", 112, address(0, 0, 0, 2), 132},
                   {"too late for a third: activates at 130 and, tRC later, at 154", 121, address(0, 0, 0, 3), 174}});
}

TEST(DramSchedule, ARequestThatCameEarlierGoesBeforeOneThatWasBookedForLater) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens", 1000, address(0, 0, 0, 0), 1020},
                   {"another row, long before: as on an idle bank", 100, address(1, 0, 0, 0), 120},
                   {"between them: conflict, precharge at 500", 500, address(2, 0, 0, 0), 527},
                   {"a hit of the first", 1100, address(0, 0, 0, 1), 1115},
                   {"a hit of the second", 200, address(1, 0, 0, 1), 215},
                   {"just before the first, whose data are on the bus until 1026", 995, address(3, 0, 0, 0), 1026},
                   {"which moves: its row is closed again", 1120, address(3, 0, 0, 1), 1147}});
}

TEST(DramSchedule, StreamsThroughTheSameBankAreBatched) {
  // Three arrays in turn, in other rows of one bank, faster than the bank could change rows for each access.
  DramParameters p = parameters();
  DramSchedule schedule(p);
  Tick last{};
  for (unsigned i = 0; i < 48; ++i) {
    last = later(last, schedule.read(address(i % 3, 0, 0, i / 3), kBurst, Tick{(100 + i) * 1000}).done);
  }
  EXPECT_EQ(schedule.statistics().row_hits, 45U);
  // 48 column commands of one group, tCCDL apart, and two changes of row.
  EXPECT_GE(last, Tick{(100 + 48 * 6) * 1000});
  EXPECT_LE(last, Tick{(100 + 48 * 6 + 3 * 40) * 1000});
}

TEST(DramSchedule, InOrderNothingOvertakes) {
  DramParameters p = parameters();
  p.scheduler = DramScheduler::fcfs;
  DramSchedule schedule(p);
  check(schedule, {{"opens: column at 105", 100, address(0, 0, 0, 0), 120},
                   {"begins at 106: activate, column at 111", 100, address(0, 0, 1, 0), 126},
                   {"conflict: precharge at 115, column at 129", 100, address(1, 0, 0, 0), 144},
                   {"a hit waits for it", 100, address(0, 0, 1, 1), 148}});
}

TEST(DramSchedule, OnlySoManyReadsAreScheduled) {
  DramParameters p = parameters();
  p.read_queue = 1;
  DramSchedule schedule(p);
  check(schedule,
        {{"leaves the queue at 100, when its row is opened", 100, address(0, 0, 0, 0), 120},
         {"activates at 102", 100, address(0, 0, 1, 0), 124},
         {"of the first one's row: enters when that is opened, leaves with its column", 100, address(0, 0, 0, 1), 128},
         {"enters then, at 111", 100, address(0, 0, 0, 2), 132}});
}

TEST(DramSchedule, ClosedPagesNeedNoPrecharge) {
  DramParameters p = parameters();
  p.page_policy = DramPagePolicy::closed;
  DramSchedule schedule(p);
  check(schedule, {{"opens", 100, address(0, 0, 0, 0), 120},
                   {"opens again", 200, address(0, 0, 0, 1), 220},
                   {"another row too", 300, address(1, 0, 0, 1), 320}});
  EXPECT_EQ(schedule.statistics().row_empty, 3U);
  EXPECT_EQ(schedule.statistics().row_hits + schedule.statistics().row_conflicts, 0U);
}

TEST(DramSchedule, RefreshClosesRowsAndTakesItsTime) {
  DramParameters p = parameters();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  DramSchedule schedule(p);
  check(schedule, {{"opens", 100, address(0, 0, 0, 0), 120},
                   {"hit just before", 984, address(0, 0, 0, 1), 999},
                   {"after tRP + tRFC the row is closed", 1000, address(0, 0, 0, 2), 1067 + 20},
                   {"nothing opens in it", 2010, address(0, 0, 0, 2), 2067 + 20},
                   {"the next interval too", 3068, address(0, 0, 0, 2), 3068 + 20}});
  schedule.retire(3100_ns);
  EXPECT_EQ(schedule.statistics().refreshes, 3U);
}

TEST(DramSchedule, RefreshesOfChannelsDoNotCoincide) {
  DramParameters p = parameters();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  for (const unsigned count : {1U, 2U, 8U}) {
    for (unsigned index = 0; index < count; ++index) {
      // The first channel at multiples of tREFI, the others i / n of it later; a read in it waits for the end.
      const std::uint64_t due = 2000 + 1000 * index / count;
      for (unsigned other = 0; other < count; ++other) {
        DramSchedule schedule(p, {other, count});
        const Tick waits = schedule.read(0, kBurst, Tick{(due + 10) * 1000}).waiting;
        EXPECT_EQ(waits, other == index ? 57_ns : 0_ns) << index << " and " << other << " of " << count;
      }
    }
  }
  p.refresh_stagger = DramRefreshStagger::none;
  for (unsigned index = 0; index < 4; ++index) {
    DramSchedule schedule(p, {index, 4});
    EXPECT_EQ(schedule.read(0, kBurst, 2010_ns).waiting, 57_ns);
  }
}

TEST(DramSchedule, AWriteGoesWhenNoReadWaits) {
  // Activate at 100, column at 104, its data until 111; tWTRS and tWTR later other groups and its own may be read.
  for (const Step& read :
       {Step{"another group", 106, address(0, 0, 1, 1), 114 + 15}, {"the same group", 106, address(0, 0, 0, 1), 116 + 15}}) {
    DramSchedule schedule(parameters());
    check(schedule, {{"opens a row", 50, address(0, 0, 1, 0), 70}});
    EXPECT_EQ(schedule.write(address(0, 0, 0, 0), kBurst, 100_ns), 100_ns);
    schedule.retire(106_ns);
    check(schedule, {read});
    EXPECT_EQ(schedule.statistics().write_drains, 1U);
    EXPECT_EQ(schedule.statistics().row_empty, 2U);
    EXPECT_EQ(schedule.statistics().row_hits, 1U);
  }
}

TEST(DramSchedule, AWriteThatHasNotBegunLetsAReadPass) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens a row", 50, address(0, 0, 0, 0), 70}, {"a hit, column at 100", 100, address(0, 0, 0, 1), 115}});
  schedule.write(address(0, 0, 0, 2), kBurst, 100_ns);
  // tCL + tRTRS - tCWL after the read's slot of 4 cycles it could go: at 114.
  schedule.retire(113_ns);
  check(schedule,
        {{"a read before that goes first, behind the cycles that the bus has for writes", 113, address(0, 0, 0, 3), 133}});
  schedule.retire(127_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 0U);
  schedule.retire(128_ns);
  check(schedule, {{"one after it does: the column at 127, data until 134, tWTR", 128, address(0, 0, 0, 4), 139 + 15}});
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
}

// Reads of other rows of one bank wait from `at` on for about 150 cycles.
void keep_reads_waiting(DramSchedule& schedule, Tick at) {
  for (unsigned row = 0; row < 6; ++row) schedule.read(address(row, 0, 0, 0), kBurst, at);
}

TEST(DramSchedule, ReadsPassWritesUntilTheHighWatermark) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens a row", 50, address(0, 0, 1, 0), 70}});
  keep_reads_waiting(schedule, 100_ns);
  for (unsigned i = 1; i < 5; ++i) EXPECT_EQ(schedule.write(address(0, 0, 1, i), kBurst, 102_ns), 102_ns);
  schedule.read(address(0, 0, 1, 9), kBurst, 110_ns);
  // It has gone, four reads of the other bank wait.
  schedule.retire(140_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 0U);
  EXPECT_EQ(schedule.write(address(0, 0, 1, 5), kBurst, 140_ns), 140_ns);
  // Four of five are written, every 6 cycles, which leaves less than a quarter of the queue.
  schedule.retire(170_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
  EXPECT_GE(schedule.statistics().row_hits, 1U + 4U);
  // A read comes behind the last of them: tWTR after its data.
  const Tick done = schedule.read(address(0, 0, 1, 10), kBurst, 170_ns).done;
  EXPECT_GE(done, Tick{(170 + 15) * 1000});
}

TEST(DramSchedule, WhatWritesTakeFromReadsIsToldToTheNextOnes) {
  // The same reads with and without a drain between them.
  const auto waits = [](bool with_writes) {
    DramParameters p = parameters();
    p.read_queue = 2;
    DramSchedule schedule(p);
    Tick sum{};
    for (unsigned i = 0; i < 400; ++i) {
      const Tick at{(100 + 20 * i) * 1000};
      schedule.retire(at);
      if (with_writes) schedule.write(address(1, 1, 1, i % 16), kBurst, at);
      sum += schedule.read(address(0, 0, 1, i % 16), kBurst, at).waiting;
    }
    return sum;
  };
  EXPECT_EQ(waits(false), 0_ns);
  EXPECT_GT(waits(true), 400_ns);
}

TEST(DramSchedule, ADrainWritesOpenRowsFirst) {
  DramSchedule schedule(parameters());
  check(schedule, {{"opens a row", 50, address(0, 0, 1, 0), 70}});
  keep_reads_waiting(schedule, 100_ns);
  schedule.write(address(3, 0, 1, 0), kBurst, 102_ns);
  for (unsigned i = 1; i < 5; ++i) schedule.write(address(0, 0, 1, i), kBurst, 102_ns);
  const auto conflicts = schedule.statistics().row_conflicts;
  // The four of the open row leave one, the first that came: its bank's row is open still.
  schedule.retire(135_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
  EXPECT_EQ(schedule.statistics().row_conflicts, conflicts);
}

TEST(DramSchedule, WritesDoNotWaitForEver) {
  DramSchedule schedule(parameters());
  schedule.write(address(0, 0, 0, 0), kBurst, 100_ns);
  schedule.retire(104_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 0U);
  schedule.retire(105_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
  check(schedule, {{"its row is open", 200, address(0, 0, 0, 1), 215}});
}

TEST(DramSchedule, AReadOfAWaitingWriteIsAnsweredFromTheQueue) {
  DramSchedule schedule(parameters());
  keep_reads_waiting(schedule, 100_ns);
  schedule.write(address(0, 0, 1, 0), kBurst, 100_ns);
  check(schedule, {{"a burst's time", 101, address(0, 0, 1, 0), 105}});
  EXPECT_EQ(schedule.statistics().forwarded, 1U);
}

TEST(DramSchedule, AFullWriteQueueHoldsTheSender) {
  DramSchedule schedule(parameters());
  std::vector<Tick> accepted;
  for (unsigned i = 0; i < 64; ++i) {
    accepted.push_back(schedule.write(address(0, 0, 0, i % 16), kBurst, 100_ns));
    EXPECT_GE(accepted.back(), i == 0 ? Tick{} : accepted[i - 1]);
  }
  EXPECT_EQ(accepted[7], 100_ns);
  EXPECT_EQ(accepted[8], 100_ns);  // the first one's row is opened: it has left
  EXPECT_GT(accepted[9], 100_ns);
  // The 56th column command, 6 cycles after each other in a group, frees the last one's place; the first is at 104.
  EXPECT_EQ(accepted.back(), Tick{(104 + 55 * 6) * 1000});
}

TEST(DramSchedule, EveryWriteIsWrittenWhateverTheQueueAndItsMarks) {
  for (const unsigned queue : {1U, 2U, 5U, 64U}) {
    for (const double high : {0.0, 0.5, 1.0}) {
      for (const double low : {0.0, high}) {
        for (const DramPagePolicy policy : {DramPagePolicy::open, DramPagePolicy::closed}) {
          DramParameters p = parameters();
          p.write_queue = queue;
          p.write_high = high;
          p.write_low = low;
          p.page_policy = policy;
          p.tREFI = 1000_cycles;
          DramSchedule schedule(p);
          std::mt19937_64 random(queue);
          Tick at{};
          for (unsigned i = 0; i < 1000; ++i) {
            const std::uint64_t r = random();
            at += Tick{r % 16 * 1000};
            const std::uint64_t address = (r >> 8) % 512 * kBurst;
            // Some come earlier than what was booked before.
            const Tick early = at - earlier(at, Tick{(r >> 32) % 100 * 1000});
            if ((r >> 40) % 2 == 0) {
              at = later(at, schedule.write(address, kBurst, early));
            } else {
              schedule.read(address, kBurst, early);
            }
            if (i % 50 == 0) schedule.retire(at - earlier(at, 100_ns));
          }
          schedule.retire(at + 1000_us);
          EXPECT_EQ(schedule.statistics().bus_busy.ps / 4000, 1000 - schedule.statistics().forwarded)
              << queue << " entries, " << low << " to " << high;
        }
      }
    }
  }
}

TEST(DramSchedule, TwoPseudoChannelsShareTheCommandBusesOnly) {
  DramParameters p = parameters();
  p.pseudo_channels = 2;
  p.address_map = "row bank group column pseudo";
  DramSchedule schedule(p);
  const std::uint64_t other = kBurst;  // the lowest bit above a burst
  check(schedule, {{"opens", 100, 0, 120}, {"activate one cycle later, data in parallel", 100, other, 121}});
  // Both bursts of a transaction at once.
  EXPECT_EQ(schedule.read(2 * kBurst, 2 * kBurst, 200_ns).done, 216_ns);
}

TEST(DramSchedule, Refusals) {
  const auto refused = [](auto change) {
    DramParameters p = parameters();
    change(p);
    EXPECT_THROW(DramSchedule{p}, std::invalid_argument);
  };
  refused([](DramParameters& p) { p.burst = 3_cycles; });
  refused([](DramParameters& p) { p.row_size = 32_B; });
  refused([](DramParameters& p) { p.bank_groups = 3; });
  refused([](DramParameters& p) { p.write_low = 0.6; });
  refused([](DramParameters& p) { p.address_map = "row"; });
  refused([](DramParameters& p) { p.tREFI = p.tRAS + p.tRP + p.tRFC; });
}

}  // namespace
}  // namespace lacuna
