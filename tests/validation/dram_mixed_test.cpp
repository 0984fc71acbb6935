// The DRAM schedule under mixed traffic, against a controller that decides cycle by cycle (dram_controller.h).
//
// That controller is held against Ramulator2's curves for reads first. Then both carry the same requests of one burst, evenly
// spaced, sent in order by one source that has 64 reads under way at most: at random or one burst after the other, of which a
// quarter or half are writes; and copies of several arrays at once, 128 bytes of each in turn. Loads and bandwidths are parts
// of the peak; latencies are those of reads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
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

constexpr std::uint64_t kBurst = 32;
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

std::vector<Request> requests_of(const Traffic& traffic, unsigned count) {
  constexpr unsigned kLine = 4;  // bursts
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> next(2 * traffic.copies);
  for (std::uint64_t& burst : next) burst = random() % (1U << 18) * 256;
  std::vector<Request> requests;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t r = random();
    if (traffic.copies != 0) {
      const unsigned array = i / kLine % (2 * traffic.copies);
      requests.push_back({kBurst * next[array]++, array % 2 == 1});
    } else {
      requests.push_back({kBurst * (traffic.sequential ? i : r % (1U << 26)), (r >> 40) % 100 < traffic.writes});
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
      sent = schedule.write(requests[i].address, kBurst, sent);
      last = later(last, sent);
    } else {
      if (under_way.size() == kUnderWay) {
        const auto first = std::min_element(under_way.begin(), under_way.end());
        sent = later(sent, *first);
        under_way.erase(first);
      }
      under_way.push_back(schedule.read(requests[i].address, kBurst, sent).done);
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
    const std::vector<Request> requests = requests_of(traffic, 30'000);
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

struct Bounds {
  Traffic traffic;
  double bandwidth;
  double latency;
};

class Mixed : public testing::TestWithParam<Bounds> {};

TEST_P(Mixed, BandwidthAndLatency) {
  const auto& [traffic, bandwidth_bound, latency_bound] = GetParam();
  const DramParameters parameters = validation::hbm2();
  const std::vector<Request> requests = requests_of(traffic, 15'000);
  Comparison results(fmt::format("dram_mixed_{}.csv", traffic.name), {"load"});
  const double achievable = run_controller(parameters, requests, 1.0, kUnderWay).bandwidth;
  const double achieved = run_schedule(parameters, requests, 1.0).bandwidth;
  const double error = results.add({"1.0"}, "bandwidth", achieved, achievable, bandwidth_bound);
  EXPECT_LE(std::abs(error), bandwidth_bound) << achieved << " against " << achievable;
  for (unsigned tenths = 1; tenths <= 8; ++tenths) {
    const double load = achievable * tenths / 10;
    const Result reference = run_controller(parameters, requests, load, kUnderWay);
    const Result ours = run_schedule(parameters, requests, load);
    const double off = results.add({fmt::format("{:.3f}", load)}, "latency", ours.latency, reference.latency, latency_bound);
    EXPECT_LE(std::abs(off), latency_bound) << "at " << load << ": " << ours.latency << " against " << reference.latency;
  }
}

// Copies of several arrays have rows in turn in one bank, those of two and three most of all. What is allowed there is what is
// known (docs/DEVIATIONS.md).
INSTANTIATE_TEST_SUITE_P(
    Hbm2, Mixed,
    testing::Values(Bounds{{"random_25", false, 25, 0}, 0.10, 0.15}, Bounds{{"random_50", false, 50, 0}, 0.10, 0.15},
                    Bounds{{"sequential_25", true, 25, 0}, 0.10, 0.15}, Bounds{{"sequential_50", true, 50, 0}, 0.10, 0.15},
                    Bounds{{"copy_1", true, 50, 1}, 0.10, 0.15}, Bounds{{"copy_2", true, 50, 2}, 0.10, 0.30},
                    Bounds{{"copy_3", true, 50, 3}, 0.20, 0.45}, Bounds{{"copy_4", true, 50, 4}, 0.10, 0.25},
                    Bounds{{"copy_6", true, 50, 6}, 0.10, 0.25}),
    [](const auto& instance) { return std::string(instance.param.traffic.name); });

}  // namespace
}  // namespace lacuna
