// The DRAM schedule under mixed traffic, against a controller that decides cycle by cycle (dram_controller.h).
//
// That controller is held against Ramulator2's curves for reads first. Then both carry the same requests of one burst, evenly
// spaced, sent in order by one source that has 64 reads under way at most: at random or one burst after the other, of which a
// quarter or half are writes; and copies of several arrays at once, 128 bytes of each in turn. Loads and bandwidths are bursts
// a cycle; latencies are those of reads. Each traffic has several seeds, which say where arrays lie and what is written: the
// bounds hold for every one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "models/dram/dram_schedule.h"
#include "tests/validation/dram_controller.h"
#include "tests/validation/dram_preset.h"
#include "tests/validation/reference_table.h"

namespace lacuna {
namespace {

using validation::Comparison;
using validation::DramController;
using validation::Row;

constexpr std::uint64_t kStart = 5000;  // cycles, behind the first refresh
constexpr std::size_t kUnderWay = 64;

struct Traffic {
  const char* name;
  bool sequential;
  unsigned writes;  // of a hundred requests
  unsigned copies;  // arrays that are copied at once, or 0
};

struct Request {
  std::uint64_t address;
  bool write;
};

/// Bytes of a burst.
unsigned burst_of(const DramParameters& parameters) {
  return static_cast<unsigned>(parameters.burst.n) * parameters.bytes_per_cycle;
}

std::vector<Request> requests_of(const DramParameters& parameters, const Traffic& traffic, unsigned count, unsigned seed) {
  const unsigned burst_bytes = burst_of(parameters);
  const unsigned line = 128 / burst_bytes;  // bursts
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> next(2 * traffic.copies);
  for (std::uint64_t& burst : next) burst = random() % (1U << 18) * 256;
  std::vector<Request> requests;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t r = random();
    if (traffic.copies != 0) {
      const unsigned array = i / line % (2 * traffic.copies);
      requests.push_back({burst_bytes * next[array]++, array % 2 == 1});
    } else {
      requests.push_back(
          {std::uint64_t{burst_bytes} * (traffic.sequential ? i : r % (1U << 26)), (r >> 40) % 100 < traffic.writes});
    }
  }
  return requests;
}

struct Result {
  double bandwidth = 0;  // part of the peak
  double latency = 0;    // of reads, ns
};

std::vector<std::uint64_t> arrivals(std::size_t count, double load) {
  std::vector<std::uint64_t> cycles(count);
  for (std::size_t i = 0; i < count; ++i) {
    cycles[i] = kStart + static_cast<std::uint64_t>(static_cast<double>(i + 1) / load);
  }
  return cycles;
}

Result run_controller(const DramParameters& parameters, const std::vector<Request>& requests, double load,
                      std::size_t under_way) {
  DramController controller(parameters);
  const std::vector<std::uint64_t> arrival = arrivals(requests.size(), load);
  std::vector<std::uint64_t> pending;  // when reads that are on the bus are done
  double latency = 0;
  std::size_t next = 0;
  std::size_t reads = 0;
  std::size_t waiting = 0;
  std::uint64_t last = 0;
  while (controller.now() < kStart) controller.tick();
  while (next < requests.size() || !controller.idle()) {
    std::erase_if(pending, [&controller](std::uint64_t done) { return done <= controller.now(); });
    for (; next < requests.size() && arrival[next] <= controller.now(); ++next) {
      if (!requests[next].write && waiting + pending.size() >= under_way) break;
      if (!controller.offer(requests[next].address, requests[next].write, next)) break;
      waiting += !requests[next].write;
    }
    controller.tick();
    for (const DramController::Completion& completion : controller.completed()) {
      last = std::max(last, completion.done);
      if (requests[completion.id].write) continue;
      ++reads;
      --waiting;
      pending.push_back(completion.done);
      latency += static_cast<double>(completion.done - arrival[completion.id]);
    }
  }
  return {static_cast<double>(requests.size()) / static_cast<double>(last - kStart), latency / static_cast<double>(reads)};
}

Result run_schedule(const DramParameters& parameters, const std::vector<Request>& requests, double load) {
  DramSchedule schedule(parameters);
  const unsigned burst_bytes = burst_of(parameters);
  const std::vector<std::uint64_t> arrival = arrivals(requests.size(), load);
  std::vector<Tick> under_way;
  double latency = 0;
  std::size_t reads = 0;
  Tick sent{};
  Tick last{};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Tick arrived{arrival[i] * 1000};
    sent = later(sent, arrived);
    if (requests[i].write) {
      sent = schedule.write(requests[i].address, burst_bytes, sent);
      last = later(last, sent);
    } else {
      if (under_way.size() == kUnderWay) {
        const auto first = std::min_element(under_way.begin(), under_way.end());
        sent = later(sent, *first);
        under_way.erase(first);
      }
      under_way.push_back(schedule.read(requests[i].address, burst_bytes, sent).done);
      last = later(last, under_way.back());
      latency += static_cast<double>((under_way.back() - arrived).ps) / 1000;
      ++reads;
    }
    if (i % 64 == 0) schedule.retire(sent);
  }
  const double cycles = static_cast<double>(last.ps) / 1000 - static_cast<double>(kStart);
  return {static_cast<double>(requests.size()) / cycles, latency / static_cast<double>(reads)};
}

TEST(DramController, CarriesReadsAsRamulator2) {
  const DramParameters parameters = validation::hbm2();
  Comparison results("dram_controller.csv", {"pattern", "load"});
  unsigned compared = 0;
  for (const bool sequential : {false, true}) {
    const Traffic traffic{sequential ? "seq(BG-interleaved)" : "random", sequential, 0, 0};
    const std::vector<Request> requests = requests_of(parameters, traffic, 30'000, 17);
    const double achieved = run_controller(parameters, requests, 1.0, requests.size()).bandwidth;
    for (const Row& row : validation::read_reference("dram.csv")) {
      if (row.text("tool") != "ramulator2.1" || row.text("standard") != "HBM2-2000 ramulator timings" ||
          row.text("scheduler") != "FRFCFS" || row.text("pattern") != traffic.name) {
        continue;
      }
      const double load = *row.number("offered");
      if (load == 1.0) {
        const double reference = *row.number("achieved_fraction_of_peak");
        EXPECT_LE(std::abs(results.add({traffic.name, "1.0"}, "bandwidth", achieved, reference, 0.02)), 0.02) << traffic.name;
      }
      if (load > 0.8 * achieved) continue;
      ++compared;
      const double latency = run_controller(parameters, requests, load, requests.size()).latency;
      const double reference = *row.number("avg_latency_incl_source_queue_ns");
      const double error = results.add({traffic.name, row.text("offered")}, "latency", latency, reference, 0.10);
      EXPECT_LE(std::abs(error), 0.10) << traffic.name << " at " << load << ": " << latency << " against " << reference;
    }
  }
  EXPECT_EQ(compared, 9U);
}

constexpr double kBandwidth = 0.10;
constexpr double kLatency = 0.15;
constexpr unsigned kSeeds[] = {17, 1, 2, 3, 4};

struct Case {
  const char* device;
  const char* preset;
  Traffic traffic;
};

class Mixed : public testing::TestWithParam<std::tuple<Case, unsigned>> {};

TEST_P(Mixed, BandwidthAndLatency) {
  const auto& [the_case, seed] = GetParam();
  const Traffic& traffic = the_case.traffic;
  const DramParameters parameters = validation::dram_preset(the_case.preset);
  const std::vector<Request> requests = requests_of(parameters, traffic, 15'000, seed);
  Comparison results(fmt::format("dram_mixed_{}_{}_{}.csv", the_case.device, traffic.name, seed), {"load"});
  const double achievable = run_controller(parameters, requests, 1.0, kUnderWay).bandwidth;
  const double achieved = run_schedule(parameters, requests, 1.0).bandwidth;
  const double error = results.add({"1.0"}, "bandwidth", achieved, achievable, kBandwidth);
  EXPECT_LE(std::abs(error), kBandwidth) << achieved << " against " << achievable;
  for (unsigned tenths = 1; tenths <= 8; ++tenths) {
    const double load = achievable * tenths / 10;
    const Result reference = run_controller(parameters, requests, load, kUnderWay);
    const Result ours = run_schedule(parameters, requests, load);
    const double off = results.add({fmt::format("{:.3f}", load)}, "latency", ours.latency, reference.latency, kLatency);
    EXPECT_LE(std::abs(off), kLatency) << "at " << load << ": " << ours.latency << " against " << reference.latency;
  }
}

// Copies of several arrays have rows in turn in one bank: where they lie decides in which.
constexpr Traffic kTraffics[] = {{"random_25", false, 25, 0},    {"random_50", false, 50, 0}, {"sequential_25", true, 25, 0},
                                 {"sequential_50", true, 50, 0}, {"copy_1", true, 50, 1},     {"copy_2", true, 50, 2},
                                 {"copy_3", true, 50, 3},        {"copy_4", true, 50, 4},     {"copy_6", true, 50, 6},
                                 {"copy_8", true, 50, 8}};

std::vector<Case> cases(const char* device, const char* preset) {
  std::vector<Case> result;
  for (const Traffic& traffic : kTraffics) result.push_back({device, preset, traffic});
  return result;
}

std::string name_of(const testing::TestParamInfo<std::tuple<Case, unsigned>>& instance) {
  return fmt::format("{}_{}", std::get<0>(instance.param).traffic.name, std::get<1>(instance.param));
}

INSTANTIATE_TEST_SUITE_P(Hbm2, Mixed, testing::Combine(testing::ValuesIn(cases("hbm2", "hbm2.cfg")), testing::ValuesIn(kSeeds)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Gddr5, Mixed,
                         testing::Combine(testing::ValuesIn(cases("gddr5", "gddr5.cfg")), testing::ValuesIn(kSeeds)), name_of);

}  // namespace
}  // namespace lacuna
