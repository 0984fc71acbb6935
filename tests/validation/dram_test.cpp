// The DRAM schedule compared with Ramulator2 and DRAMSys (reference/dram.csv): unloaded latencies, and achieved bandwidth and
// latency versus load, of an HBM2 channel at 2 Gbit/s.
//
// The reference's traffic: reads of one burst, evenly spaced; "random" chooses pseudo channel, group, bank and row uniformly,
// "seq" walks through pseudo channels, groups, columns, banks and rows in this order. Loads and bandwidths are fractions of the
// peak, which is one burst per cycle over both pseudo channels. Latencies are measured from arrival and include the wait for
// the queue.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/validation/dram_preset.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using namespace literals;
using validation::Comparison;
using validation::hbm2;
using validation::Row;

constexpr std::uint64_t kBurst = 32;

struct Result {
  double bandwidth = 0;  // fraction of the peak
  double latency = 0;    // ns
};

/// `forecast`: the latencies are those of the completion times that are forecast when reads arrive.
Result run(const DramParameters& parameters, bool sequential, double load, unsigned requests, bool forecast = false) {
  DramSchedule schedule(parameters);
  std::mt19937_64 random(17);
  const double start_cycle = 5000;
  std::vector<Tick> arrivals(requests);
  std::vector<DramSchedule::Completion> completed;
  double latency = 0;
  Tick last{};
  const auto decide = [&](Tick until) {
    completed.clear();
    schedule.decide(until, completed);
    for (const auto& [number, read] : completed) {
      latency += static_cast<double>((read.done - arrivals[number]).ps) / 1000;
      last = later(last, read.done);
    }
  };
  double at = start_cycle;
  for (std::uint32_t i = 0; i < requests; ++i) {
    at += 1 / load;
    arrivals[i] = Tick{static_cast<std::uint64_t>(at) * 1000};
    const std::uint64_t address = kBurst * (sequential ? i : random() % (std::uint64_t{1} << 26));
    if (!forecast) {
      schedule.read_later(address, kBurst, arrivals[i], i);
      if (i % 64 == 0) decide(arrivals[i]);
      continue;
    }
    const Tick done = schedule.read(address, kBurst, arrivals[i]).done;
    latency += static_cast<double>((done - arrivals[i]).ps) / 1000;
    last = later(last, done);
    if (i % 64 == 0) schedule.retire(arrivals[i]);
  }
  schedule.finish();
  decide(arrivals.back());
  return {requests / (static_cast<double>(last.ps) / 1000 - start_cycle), latency / requests};
}

TEST(DramAgainstPeers, UnloadedLatencies) {
  DramParameters parameters = hbm2();
  parameters.tREFI = 0_cycles;
  DramSchedule schedule(parameters);
  const auto latency = [&schedule](std::uint64_t address, Tick at) {
    std::vector<DramSchedule::Completion> completed;
    schedule.read_later(address, kBurst, at, 0);
    schedule.decide(at + 1_us, completed);
    return static_cast<double>((completed.at(0).read.done - at).ps) / 1000;
  };
  const double closed = latency(0, 1_us);
  const double hit = latency(8 * kBurst, 2_us);
  const double conflict = latency(std::uint64_t{1} << 20, 3_us);
  Comparison results("dram_unloaded.csv", {"peer"});
  unsigned rows = 0;
  for (const Row& row : validation::read_reference("dram.csv")) {
    if (row.text("standard") != "HBM2-2000 ramulator timings" || !row.text("pattern").starts_with("unloaded_")) continue;
    const std::string pattern = row.text("pattern");
    const double ours = pattern == "unloaded_hit" ? hit : pattern == "unloaded_closed" ? closed : conflict;
    const auto ramulator = row.number("avg_latency_incl_source_queue_ns");
    if (pattern == "unloaded_random_refresh") continue;
    ++rows;
    // Ramulator2's latencies are means of long runs, given to a tenth of a cycle; those of DRAMSys include 1.4 ns of its
    // interface.
    const double reference = ramulator ? std::round(*ramulator) : *row.number("avg_latency_ns") - 1.4;
    EXPECT_NEAR(results.add({row.text("tool")}, pattern, ours, reference, 0), 0, 1e-9) << pattern;
  }
  EXPECT_EQ(rows, 6U);
}

struct Peer {
  const char* tool;
  const char* scheduler;
  DramScheduler ours;
  const char* latency;  // column of the table
  unsigned loads;       // number of loads in the table, up to 0.8 of the achieved bandwidth
  double bandwidth;     // allowed errors
  double latency_error;
};

class Loaded : public testing::TestWithParam<Peer> {};

TEST_P(Loaded, BandwidthAndLatency) {
  const Peer peer = GetParam();
  DramParameters parameters = hbm2();
  parameters.scheduler = peer.ours;
  Comparison results(fmt::format("dram_{}_{}.csv", peer.tool, peer.scheduler), {"pattern", "load"});
  unsigned compared = 0;
  for (const bool sequential : {false, true}) {
    const char* const pattern = sequential ? "seq(BG-interleaved)" : "random";
    std::vector<Row> rows;
    for (const Row& row : validation::read_reference("dram.csv")) {
      if (row.text("tool") == peer.tool && row.text("standard") == "HBM2-2000 ramulator timings" &&
          row.text("scheduler") == peer.scheduler && row.text("pattern") == pattern) {
        rows.push_back(row);
      }
    }
    ASSERT_FALSE(rows.empty());
    const double achievable = *rows.back().number("achieved_fraction_of_peak");
    const Result saturated = run(parameters, sequential, 1.0, 200'000);
    const double bandwidth_error = results.add({pattern, "1.0"}, "bandwidth", saturated.bandwidth, achievable, peer.bandwidth);
    EXPECT_LE(std::abs(bandwidth_error), peer.bandwidth) << pattern << ": " << saturated.bandwidth << " against " << achievable;
    for (const Row& row : rows) {
      const double load = *row.number("offered");
      if (load > 0.8 * achievable) continue;
      ++compared;
      const Result ours = run(parameters, sequential, load, 200'000);
      const double error =
          results.add({pattern, row.text("offered")}, "latency", ours.latency, *row.number(peer.latency), peer.latency_error);
      EXPECT_LE(std::abs(error), peer.latency_error) << pattern << " at " << load << ": " << ours.latency << " ns";
    }
  }
  EXPECT_EQ(compared, peer.loads);
}
INSTANTIATE_TEST_SUITE_P(
    Hbm2, Loaded,
    testing::Values(Peer{"ramulator2.1", "FRFCFS", DramScheduler::frfcfs, "avg_latency_incl_source_queue_ns", 9, 0.01, 0.08},
                    Peer{"dramsys5.1", "frfcfs", DramScheduler::frfcfs, "avg_latency_ns", 7, 0.06, 0.10},
                    Peer{"ramulator2.1", "FCFS", DramScheduler::fcfs, "avg_latency_incl_source_queue_ns", 5, 0.06, 0.14}));

// Requesters that cannot wait for the decided times receive forecasts, which must be right on average.
TEST(DramForecast, IsNearTheTimesThatAreDecided) {
  const DramParameters parameters = hbm2();
  Comparison results("dram_forecast.csv", {"pattern", "load"});
  for (const bool sequential : {false, true}) {
    for (const double load : {0.1, 0.2, 0.3, 0.5, 0.7}) {
      if (!sequential && load > 0.3) break;  // the load exceeds the channel's random bandwidth
      const Result decided = run(parameters, sequential, load, 100'000);
      const Result forecast = run(parameters, sequential, load, 100'000, true);
      const std::vector<std::string> point = {sequential ? "sequential" : "random", fmt::format("{}", load)};
      const double bandwidth = results.add(point, "bandwidth", forecast.bandwidth, decided.bandwidth, 0.01);
      const double latency = results.add(point, "latency", forecast.latency, decided.latency, 0.01);
      EXPECT_LE(std::abs(bandwidth), 0.01) << point[0] << " at " << load;
      EXPECT_LE(std::abs(latency), 0.01) << point[0] << " at " << load << ": " << forecast.latency << " ns";
    }
  }
}

TEST(DramAgainstPeers, BandwidthAgainstQueue) {
  Comparison results("dram_queue.csv", {"reads"});
  unsigned rows = 0;
  for (const Row& row : validation::read_reference("dram.csv")) {
    unsigned entries = 0;
    if (std::sscanf(row.text("scheduler").c_str(), "FRFCFS_buf%u", &entries) != 1) continue;
    ++rows;
    DramParameters parameters = hbm2();
    parameters.read_queue = entries;
    const Result ours = run(parameters, false, 1.0, 200'000);
    const double reference = *row.number("achieved_fraction_of_peak");
    const double error = results.add({std::to_string(entries)}, "bandwidth", ours.bandwidth, reference, 0.01);
    EXPECT_LE(std::abs(error), 0.01) << entries << " reads: " << ours.bandwidth << " against " << reference;
  }
  EXPECT_EQ(rows, 4U);
}

}  // namespace
}  // namespace lacuna
