// Tests the decided and forecast times of reads and writes: minimum distances between commands, queues, and refresh.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/dram/schedule_steps.h"
#include "tests/dram/small_dram.h"

namespace lacuna {
namespace {

using namespace literals;
using namespace test;

TEST(DramSchedule, ColumnCommandsOfAGroupAreFurtherApart) {
  const Steps opened = {{"opens a row: 5 + 11 + 4", 100, address(0, 0, 0, 0), 120},
                        {"opens one in the other group: activate at 102, column at 107 -> 109", 100, address(0, 0, 1, 0), 124},
                        {"hit, 10 cycles later: alone", 200, address(0, 0, 0, 1), 215}};
  Steps forecasts = opened;
  forecasts.push_back({"same group: tCCDL", 200, address(0, 0, 0, 2), 221});
  forecasts.push_back({"the bus has two cycles before 206 and two from 210 on", 200, address(0, 0, 1, 1), 223});
  DramSchedule forecast(small_dram());
  expect_forecasts(forecast, forecasts);
  Steps served = opened;
  served.push_back({"after the next", 200, address(0, 0, 0, 2), 223});
  served.push_back({"other group: tCCDS, before tCCDL is over", 200, address(0, 0, 1, 1), 219});
  DramSchedule schedule(small_dram());
  expect_served(schedule, served);
}

TEST(DramSchedule, ActivatesKeepTheirDistance) {
  // Reads of four banks in the same cycle: activates in cycles 100, 102 (other group), 104 (tRRDS; tRRDL after the first has
  // passed) and 106. The fifth read conflicts with the first: after a precharge in cycle 115 (tRAS) it could activate in cycle
  // 124 (tRC), but must wait for the tFAW window.
  expect_both(small_dram(), {{"first", 100, address(0, 0, 0, 0), 120},
                             {"other group", 100, address(0, 0, 1, 0), 124},
                             {"second bank of the first group", 100, address(0, 1, 0, 0), 128},
                             {"second bank of the other", 100, address(0, 1, 1, 0), 132},
                             {"fifth waits for the window: activate at 130", 100, address(1, 0, 0, 0), 150}});
}

// Activate in cycle 100, column command in 105: tRTP allows a precharge in 109, tRAS in 115; the later limit applies.
TEST(DramSchedule, ARowStaysOpenAtLeastTras) {
  DramParameters p = small_dram();
  p.tRC = p.tRAS;  // has no effect
  for (const Step& conflict : {Step{"precharge 115, activate 122, column 127", 101, address(1, 0, 0, 0), 142},
                               Step{"as soon as the row may be closed", 115, address(1, 0, 0, 0), 142},
                               Step{"a cycle later", 116, address(1, 0, 0, 0), 143}}) {
    expect_both(p, {{"opens", 100, address(0, 0, 0, 0), 120}, conflict});
  }
}

// Without tRC, a precharge in cycle 115 would allow an activate in cycle 122.
TEST(DramSchedule, ActivatesOfABankAreAtLeastTrcApart) {
  for (const Step& conflict :
       {Step{"activate 124, column 129", 101, address(1, 0, 0, 0), 144}, Step{"precharge 117", 117, address(1, 0, 0, 0), 144},
        Step{"a cycle later", 118, address(1, 0, 0, 0), 145}}) {
    expect_both(small_dram(), {{"opens", 100, address(0, 0, 0, 0), 120}, conflict});
  }
}

TEST(DramSchedule, ARowHitGoesBeforeAPrecharge) {
  const Steps before = {{"opens", 100, address(0, 0, 0, 0), 120},
                        {"hit of the open row: column at 111", 101, address(0, 0, 0, 1), 126},
                        {"another, tCCDL after it: column at 117, precharge from 121 on", 112, address(0, 0, 0, 2), 132}};
  DramSchedule forecast(small_dram());
  expect_forecasts(forecast,
                   {before[0],
                    {"conflict: precharge at 115", 100, address(1, 0, 0, 0), 144},
                    before[1],
                    before[2],
                    {"too late for a third: activates at 130 and, tRC later, at 154", 121, address(0, 0, 0, 3), 174}});
  Steps served = before;
  served.push_back({"just in time: column at 123", 121, address(0, 0, 0, 3), 138});
  served.push_back({"conflict: precharge at 127, activate at 134", 100, address(1, 0, 0, 0), 154});
  DramSchedule schedule(small_dram());
  expect_served(schedule, served);
}

TEST(DramSchedule, RequestsMayBeMadeInAnotherOrderThanTheyArrive) {
  DramSchedule forecast(small_dram());
  expect_forecasts(forecast, {{"opens", 1000, address(0, 0, 0, 0), 1020},
                              {"another row, long before: as on an idle bank", 100, address(1, 0, 0, 0), 120},
                              {"between them: conflict, precharge at 500", 500, address(2, 0, 0, 0), 527},
                              {"a hit of the first", 1100, address(0, 0, 0, 1), 1115},
                              {"a hit of the second", 200, address(1, 0, 0, 1), 215},
                              {"just before the first, whose data are on the bus until 1026", 995, address(3, 0, 0, 0), 1026},
                              {"which moves: its row is closed again", 1120, address(3, 0, 0, 1), 1147}});
  DramSchedule schedule(small_dram());
  expect_served(schedule, {{"conflict: precharge at 1017, tRAS after the activate before", 1000, address(0, 0, 0, 0), 1046},
                           {"opens", 100, address(1, 0, 0, 0), 120},
                           {"conflict", 500, address(2, 0, 0, 0), 527},
                           {"hit", 1100, address(0, 0, 0, 1), 1115},
                           {"hit", 200, address(1, 0, 0, 1), 215},
                           {"conflict: activate at 1002", 995, address(3, 0, 0, 0), 1022},
                           {"conflict", 1120, address(3, 0, 0, 1), 1147}});
}

TEST(DramSchedule, StreamsThroughTheSameBankAreBatched) {
  // Reads three arrays in turn, in different rows of one bank, faster than the bank can change rows.
  DramSchedule schedule(small_dram());
  for (unsigned i = 0; i < 48; ++i) schedule.read_later(address(i % 3, 0, 0, i / 3), kBurst, Tick{(100 + i) * 1000}, i);
  Tick last{};
  for (const auto& [number, read] : decided(schedule, 10_us)) last = later(last, read.done);
  EXPECT_EQ(schedule.statistics().row_empty, 1U);
  EXPECT_EQ(schedule.statistics().row_conflicts, 2U);
  EXPECT_EQ(schedule.statistics().row_hits, 45U);
  // 48 column commands of one group, tCCDL apart, and two changes of row, each tRTP + tRP + tRCD from column command to column
  // command.
  EXPECT_EQ(last, Tick{(105 + 45 * 6 + 2 * 16 + 15) * 1000});
}

TEST(DramSchedule, InOrderNothingOvertakes) {
  DramParameters p = small_dram();
  p.scheduler = DramScheduler::fcfs;
  expect_both(p, {{"opens: column at 105", 100, address(0, 0, 0, 0), 120},
                  {"begins at 106: activate, column at 111", 100, address(0, 0, 1, 0), 126},
                  {"conflict: precharge at 115, column at 129", 100, address(1, 0, 0, 0), 144},
                  {"a hit waits for it", 100, address(0, 0, 1, 1), 148}});
}

TEST(DramSchedule, ReadsBeyondTheQueueWait) {
  DramParameters p = small_dram();
  p.read_queue = 1;
  const Steps opened = {
      {"leaves the queue at 100, when its row is opened", 100, address(0, 0, 0, 0), 120},
      {"activates at 102", 100, address(0, 0, 1, 0), 124},
      {"of the first one's row: enters when that is opened, leaves with its column, at 113", 100, address(0, 0, 0, 1), 128}};
  Steps forecasts = opened;
  forecasts.push_back({"forecasts do not know of the queue", 100, address(0, 0, 0, 2), 132});
  DramSchedule forecast(p);
  expect_forecasts(forecast, forecasts);
  Steps served = opened;
  served.push_back({"enters at 114, when its row is opened", 100, address(0, 1, 1, 0), 134});
  served.push_back({"enters at 115, tCCDS after the one before", 100, address(0, 0, 0, 2), 138});
  DramSchedule schedule(p);
  expect_served(schedule, served);
}

TEST(DramSchedule, ClosedPagesNeedNoPrecharge) {
  DramParameters p = small_dram();
  p.page_policy = DramPagePolicy::closed;
  const Steps steps = {{"opens", 100, address(0, 0, 0, 0), 120},
                       {"opens again", 200, address(0, 0, 0, 1), 220},
                       {"another row too", 300, address(1, 0, 0, 1), 320}};
  DramSchedule forecast(p);
  expect_forecasts(forecast, steps);
  DramSchedule schedule(p);
  expect_served(schedule, steps);
  for (const DramSchedule* one : {&forecast, &schedule}) {
    EXPECT_EQ(one->statistics().row_empty, 3U);
    EXPECT_EQ(one->statistics().row_hits + one->statistics().row_conflicts, 0U);
  }
}

TEST(DramSchedule, RefreshClosesRowsAndTakesItsTime) {
  DramParameters p = small_dram();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  const Steps steps = {{"opens", 100, address(0, 0, 0, 0), 120},
                       {"hit just before", 984, address(0, 0, 0, 1), 999},
                       {"after tRP + tRFC the row is closed", 1000, address(0, 0, 0, 2), 1067 + 20},
                       {"nothing opens in it", 2010, address(0, 0, 0, 2), 2067 + 20},
                       {"the next interval too", 3068, address(0, 0, 0, 2), 3068 + 20}};
  expect_both(p, steps);
  DramSchedule schedule(p);
  expect_forecasts(schedule, steps);
  schedule.retire(3100_ns);
  EXPECT_EQ(schedule.statistics().refreshes, 3U);
}

TEST(DramSchedule, RefreshesOfChannelsDoNotCoincide) {
  DramParameters p = small_dram();
  p.tREFI = 1000_cycles;
  p.tRFC = 60_cycles;
  const auto wait = [](DramSchedule& schedule, Tick at) {
    schedule.read_later(0, kBurst, at, 0);
    return decided(schedule, at + 1_us).at(0).waiting;
  };
  for (const unsigned count : {1U, 2U, 8U}) {
    for (unsigned index = 0; index < count; ++index) {
      // The first channel is refreshed at multiples of tREFI; of n channels, channel i is refreshed i / n of tREFI later. A
      // read during a refresh waits for its end.
      const Tick at{(2000 + 1000 * index / count + 10) * 1000};
      for (unsigned other = 0; other < count; ++other) {
        const Tick waits = other == index ? 57_ns : 0_ns;
        DramSchedule forecast(p, {other, count});
        EXPECT_EQ(forecast.read(0, kBurst, at).waiting, waits) << index << " and " << other << " of " << count;
        DramSchedule schedule(p, {other, count});
        EXPECT_EQ(wait(schedule, at), waits) << index << " and " << other << " of " << count;
      }
    }
  }
  p.refresh_stagger = DramRefreshStagger::none;
  for (unsigned index = 0; index < 4; ++index) {
    DramSchedule schedule(p, {index, 4});
    EXPECT_EQ(wait(schedule, 2010_ns), 57_ns);
  }
}

TEST(DramSchedule, AWriteGoesWhenNoReadWaits) {
  // The write: activate at 100, column command at 104, data until 111. Reads of other groups may follow after tWTRS, reads of
  // the same group after tWTR.
  for (const Step& read :
       {Step{"another group", 106, address(0, 0, 1, 1), 114 + 15}, {"the same group", 106, address(0, 0, 0, 1), 116 + 15}}) {
    DramSchedule forecast(small_dram());
    expect_forecasts(forecast, {{"opens a row", 50, address(0, 0, 1, 0), 70}});
    EXPECT_EQ(forecast.write(address(0, 0, 0, 0), kBurst, 100_ns), 100_ns);
    forecast.retire(106_ns);
    expect_forecasts(forecast, {read});
    DramSchedule schedule(small_dram());
    EXPECT_EQ(schedule.write_later(address(0, 0, 0, 0), kBurst, 100_ns, 9), 100_ns);
    expect_served(schedule, {{"opens a row", 50, address(0, 0, 1, 0), 70}, read});
    for (const DramSchedule* one : {&forecast, &schedule}) {
      EXPECT_EQ(one->statistics().write_drains, 1U);
      EXPECT_EQ(one->statistics().row_empty, 2U);
      EXPECT_EQ(one->statistics().row_hits, 1U);
    }
  }
}

TEST(DramSchedule, AWriteThatHasNotBegunLetsAReadPass) {
  // The write could be issued at 114: tCL + tRTRS - tCWL after the read's slot of 4 cycles.
  DramSchedule schedule(small_dram());
  schedule.write_later(address(0, 0, 0, 2), kBurst, 100_ns, 9);
  expect_served(schedule, {{"opens a row", 50, address(0, 0, 0, 0), 70},
                           {"a hit, column at 100", 100, address(0, 0, 0, 1), 115},
                           {"a read before 114 goes first", 113, address(0, 0, 0, 3), 128},
                           {"after the write: its column at 127, data until 134, tWTR", 128, address(0, 0, 0, 4), 139 + 15}});
  EXPECT_EQ(schedule.statistics().write_drains, 1U);

  DramSchedule forecast(small_dram());
  expect_forecasts(forecast,
                   {{"opens a row", 50, address(0, 0, 0, 0), 70}, {"a hit, column at 100", 100, address(0, 0, 0, 1), 115}});
  forecast.write(address(0, 0, 0, 2), kBurst, 100_ns);
  forecast.retire(113_ns);
  expect_forecasts(forecast, {{"behind the cycles that the bus has for writes", 113, address(0, 0, 0, 3), 133}});
  forecast.retire(127_ns);
  EXPECT_EQ(forecast.statistics().write_drains, 0U);
  forecast.retire(128_ns);
  expect_forecasts(forecast, {{"the column at 127, data until 134, tWTR", 128, address(0, 0, 0, 4), 139 + 15}});
  EXPECT_EQ(forecast.statistics().write_drains, 1U);
}

TEST(DramSchedule, ReadsPassWritesUntilTheHighWatermark) {
  DramSchedule schedule(small_dram());
  open_row(schedule);
  keep_reads_waiting(schedule, 100_ns);
  for (unsigned i = 1; i < 5; ++i) EXPECT_EQ(schedule.write_later(address(0, 0, 1, i), kBurst, 102_ns, i), 102_ns);
  schedule.read_later(address(0, 0, 1, 9), kBurst, 110_ns, 9);
  const auto before = decided(schedule, 140_ns);
  EXPECT_EQ(before.size(), 3U);
  EXPECT_EQ(before.at(9).done, 125_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 0U);
  EXPECT_EQ(schedule.write_later(address(0, 0, 1, 5), kBurst, 140_ns, 5), 140_ns);
  // Four of five writes are drained, until less than a quarter of the queue is occupied: the first at 143, tCL + tRTRS - tCWL
  // after the slot of the read at 129, the others every 6 cycles. Data of the fourth write end at 168. The read of the other
  // group has its column command tWTRS later, and read 10 tCCDS after that.
  schedule.read_later(address(0, 0, 1, 10), kBurst, 150_ns, 10);
  EXPECT_EQ(decided(schedule, 300_ns).at(10).done, Tick{(171 + 4 + 15) * 1000});
  EXPECT_EQ(schedule.statistics().write_drains, 2U) << "the fifth when no read waits";
  EXPECT_EQ(schedule.statistics().row_hits, 2U + 5U);
}

TEST(DramSchedule, WhatWritesTakeFromReadsIsForecastOfTheNextOnes) {
  // Sum of the waiting times of the same reads with and without writes in between.
  const auto waits = [](bool with_writes) {
    DramParameters p = small_dram();
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
  DramSchedule schedule(small_dram());
  open_row(schedule);
  keep_reads_waiting(schedule, 100_ns);
  schedule.write_later(address(3, 0, 1, 0), kBurst, 102_ns, 0);
  for (unsigned i = 1; i < 5; ++i) schedule.write_later(address(0, 0, 1, i), kBurst, 102_ns, i);
  const auto conflicts = schedule.statistics().row_conflicts;
  // The four writes of the open row are drained first. The oldest write remains: its bank's row stays open for the others.
  decided(schedule, 139_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
  EXPECT_EQ(schedule.statistics().row_hits, 4U);
  EXPECT_EQ(schedule.statistics().row_conflicts, conflicts);
}

TEST(DramSchedule, WritesDoNotWaitForEver) {
  DramSchedule schedule(small_dram());
  schedule.write_later(address(0, 0, 0, 0), kBurst, 100_ns, 0);
  decided(schedule, 104_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 0U);
  decided(schedule, 105_ns);
  EXPECT_EQ(schedule.statistics().write_drains, 1U);
  expect_served(schedule, {{"its row is open", 200, address(0, 0, 0, 1), 215}});
}

// Reads and writes of single bursts; some arrive earlier than requests made before them.
TEST(DramSchedule, EveryWriteIsWrittenWhateverTheQueueAndItsMarks) {
  for (const unsigned queue : {1U, 2U, 5U, 64U}) {
    for (const double high : {0.0, 0.5, 1.0}) {
      for (const double low : {0.0, high}) {
        for (const DramPagePolicy policy : {DramPagePolicy::open, DramPagePolicy::closed}) {
          for (const bool forecast : {false, true}) {
            DramParameters p = small_dram();
            p.write_queue = queue;
            p.write_high = high;
            p.write_low = low;
            p.page_policy = policy;
            p.tREFI = 1000_cycles;
            DramSchedule schedule(p);
            std::mt19937_64 random(queue);
            std::vector<DramSchedule::Completion> completed;
            std::size_t asked = 0;
            Tick at{};
            for (std::uint32_t i = 0; i < 1000; ++i) {
              const std::uint64_t r = random();
              at += Tick{r % 16 * 1000};
              const std::uint64_t address = (r >> 8) % 512 * kBurst;
              const Tick early = at - earlier(at, Tick{(r >> 32) % 100 * 1000});
              const bool write = (r >> 40) % 2 == 0;
              if (forecast && write) {
                at = later(at, schedule.write(address, kBurst, early));
              } else if (forecast) {
                schedule.read(address, kBurst, early);
              } else if (write) {
                asked += !schedule.write_later(address, kBurst, early, i).has_value();
              } else {
                ++asked;
                schedule.read_later(address, kBurst, early, i);
              }
              if (i % 50 == 0 && forecast) schedule.retire(at - earlier(at, 100_ns));
              if (i % 50 == 0 && !forecast) schedule.decide(at - earlier(at, 100_ns), completed);
            }
            schedule.decide(at + 1000_us, completed);
            const DramStatistics& s = schedule.statistics();
            const auto where = fmt::format("{} entries, {} to {}, {}", queue, low, high, forecast ? "forecast" : "decided");
            EXPECT_EQ(completed.size(), asked) << where;
            EXPECT_EQ(s.bus_busy.ps / 4000, 1000 - s.forwarded) << where;
            EXPECT_EQ(s.row_hits + s.row_empty + s.row_conflicts, 1000 - s.forwarded) << where;
            EXPECT_EQ(schedule.next_decision(), kNever) << where;
          }
        }
      }
    }
  }
}

// A queue of realistic length, for which the forecast adds only a fraction of a bus turnaround to each write.
TEST(DramSchedule, TheForecastOfAFullWriteQueue) {
  DramParameters p = small_dram();
  p.write_queue = 64;
  p.write_high = 0.8;
  p.write_low = 0.2;
  DramSchedule forecast(p);
  DramSchedule schedule(p);
  Tick forecast_last{};
  for (unsigned i = 0; i < 512; ++i) {
    const std::uint64_t where = address(i / 32, 0, i % 2, i / 2 % 16);
    const Tick accepted = forecast.write(where, kBurst, 100_ns);
    EXPECT_GE(accepted, forecast_last) << i;
    forecast_last = accepted;
    EXPECT_TRUE(i >= 64 || accepted == 100_ns) << i;
    schedule.write_later(where, kBurst, 100_ns, i);
  }
  Tick last{};
  for (const auto& [number, write] : decided(schedule, 100_us)) last = later(last, write.done);
  EXPECT_NEAR(static_cast<double>((forecast_last - 100_ns).ps), static_cast<double>((last - 100_ns).ps),
              0.3 * static_cast<double>(last.ps));
}

TEST(DramSchedule, TwoPseudoChannelsShareTheCommandBusesOnly) {
  DramParameters p = small_dram();
  p.pseudo_channels = 2;
  p.address_map = "row bank group column pseudo";
  const std::uint64_t other = kBurst;  // the lowest address bit above those of a burst
  const Steps steps = {{"opens", 100, 0, 120}, {"activate one cycle later, data in parallel", 100, other, 121}};
  DramSchedule forecast(p);
  expect_forecasts(forecast, steps);
  DramSchedule schedule(p);
  expect_served(schedule, steps);
  // Both bursts of a transaction are read in parallel.
  EXPECT_EQ(forecast.read(2 * kBurst, 2 * kBurst, 200_ns).done, 216_ns);
  const Tick at = 10_us;
  schedule.read_later(2 * kBurst, 2 * kBurst, at, 9);
  const DramSchedule::Read read = decided(schedule, 11_us).at(9);
  EXPECT_EQ(read.done, at + 16_ns);
  EXPECT_EQ(read.waiting, 1_ns) << "for the column bus";
}

TEST(DramSchedule, Refusals) {
  const auto refused = [](auto change) {
    DramParameters p = small_dram();
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

// Maximum bandwidth of the data buses, given the distances of column commands and the use of whole bursts.
TEST(DramParameters, ReachableBytes) {
  using namespace literals;
  DramParameters p = small_dram();
  EXPECT_EQ(p.bus_bytes(1000_cycles), 16'000U);
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 64_B), 16'000U);
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 256_B), 16'000U) << "several bursts";
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 32_B), 8'000U) << "half a burst";
  p.tCCDS = 8_cycles;
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 64_B), 8'000U);
  p.pseudo_channels = 2;
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 64_B), 16'000U);
  EXPECT_EQ(p.bus_bytes(1000_cycles), 32'000U);
  p.burst = p.tCCDS = 1_cycles;
  EXPECT_EQ(p.reachable_bytes(1000_cycles, 64_B), 16'000U) << "one column command a cycle";
  p = small_dram();
  p.bank_groups = 1;
  EXPECT_EQ(p.reachable_bytes(1200_cycles, 64_B), 200U * 64) << "tCCDL";
}

}  // namespace
}  // namespace lacuna
