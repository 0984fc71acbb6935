// The DRAM schedule under mixed traffic, against a controller that decides cycle by cycle (dram_controller.h): every read must
// complete, and every write must be accepted, in the same cycle in both.
//
// That controller is first compared with Ramulator2's curves for reads. Then controller and schedule serve the same requests of
// one burst each, evenly spaced, sent in order by one source with at most 64 reads in flight. Traffic is either random or
// sequential, with a quarter or half of the requests being writes, or copies several arrays in parallel, 128 bytes of each in
// turn. Loads and bandwidths are bursts per cycle; latencies are those of reads, in cycles. Each kind of traffic is run with
// several seeds, which determine the addresses of arrays and which requests are writes.
//
// DramSpace runs all mixes on all standards once and prints the mean and the worst error of each class; all must be 0. Classes:
// random traffic, sequential traffic, and traffic that accesses one line of each of 1 to 12 arrays in turn, each with 0 to 100
// % writes; and copies of 1 to 12 arrays.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
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

constexpr std::uint64_t kStart = 5000;  // first arrival in cycles, after the first refresh
constexpr std::size_t kInFlight = 64;

struct Traffic {
  const char* name;
  bool sequential;
  unsigned writes;       // percentage of writes
  unsigned copies;       // number of arrays that are copied simultaneously, or 0
  unsigned streams = 0;  // number of arrays, of which one line each is accessed in turn, or 0
};

struct Request {
  std::uint64_t address;
  bool write;
};

/// Returns the number of bytes of a burst.
unsigned burst_of(const DramParameters& parameters) {
  return static_cast<unsigned>(parameters.burst.n) * parameters.bytes_per_cycle;
}

std::vector<Request> requests_of(const DramParameters& parameters, const Traffic& traffic, unsigned count, unsigned seed) {
  const unsigned burst_bytes = burst_of(parameters);
  const unsigned line = 128 / burst_bytes;  // bursts
  std::mt19937_64 random(seed);
  const unsigned arrays = traffic.streams != 0 ? traffic.streams : 2 * traffic.copies;
  std::vector<std::uint64_t> next(arrays);
  for (std::uint64_t& burst : next) burst = random() % (1U << 18) * 256;
  std::vector<Request> requests;
  bool writes_line = false;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t r = random();
    if (arrays != 0) {
      const unsigned array = i / line % arrays;
      if (i % line == 0) writes_line = traffic.streams != 0 ? (r >> 40) % 100 < traffic.writes : array % 2 == 1;
      requests.push_back({burst_bytes * next[array]++, writes_line});
    } else {
      requests.push_back(
          {std::uint64_t{burst_bytes} * (traffic.sequential ? i : r % (1U << 26)), (r >> 40) % 100 < traffic.writes});
    }
  }
  return requests;
}

struct Result {
  double bandwidth = 0;               // fraction of the peak
  double latency = 0;                 // mean latency of reads, cycles
  std::vector<std::uint64_t> done{};  // cycle in which each read's data arrive or each write is accepted
};

std::vector<std::uint64_t> arrivals(std::size_t count, double load) {
  std::vector<std::uint64_t> cycles(count);
  for (std::size_t i = 0; i < count; ++i) {
    cycles[i] = kStart + static_cast<std::uint64_t>(static_cast<double>(i + 1) / load);
  }
  return cycles;
}

Result result_of(const std::vector<Request>& requests, const std::vector<std::uint64_t>& arrival,
                 std::vector<std::uint64_t> done) {
  double latency = 0;
  std::size_t reads = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].write) continue;
    ++reads;
    latency += static_cast<double>(done[i] - arrival[i]);
  }
  const std::uint64_t last = *std::max_element(done.begin(), done.end());
  return {static_cast<double>(requests.size()) / static_cast<double>(last - kStart), latency / static_cast<double>(reads),
          std::move(done)};
}

Result run_controller(const DramParameters& parameters, const std::vector<Request>& requests, double load,
                      std::size_t in_flight) {
  DramController controller(parameters);
  const std::vector<std::uint64_t> arrival = arrivals(requests.size(), load);
  std::vector<std::uint64_t> done(requests.size());
  std::vector<std::uint64_t> pending;  // completion times of reads on the bus
  std::size_t next = 0;
  std::size_t waiting = 0;
  while (controller.now() < kStart) controller.tick();
  while (next < requests.size() || !controller.idle()) {
    std::erase_if(pending, [&controller](std::uint64_t end) { return end <= controller.now(); });
    for (; next < requests.size() && arrival[next] <= controller.now(); ++next) {
      if (!requests[next].write && waiting + pending.size() >= in_flight) break;
      if (!controller.offer(requests[next].address, requests[next].write, next)) break;
      if (requests[next].write) {
        done[next] = controller.now();
      } else {
        ++waiting;
      }
    }
    controller.tick();
    for (const DramController::Completion& completion : controller.completed()) {
      if (requests[completion.id].write) continue;
      --waiting;
      pending.push_back(completion.done);
      done[completion.id] = completion.done;
    }
  }
  return result_of(requests, arrival, std::move(done));
}

Result run_schedule(const DramParameters& parameters, const std::vector<Request>& requests, double load) {
  DramSchedule schedule(parameters);
  const unsigned burst_bytes = burst_of(parameters);
  const std::vector<std::uint64_t> arrival = arrivals(requests.size(), load);
  const Tick period = parameters.clock.period();
  std::vector<std::uint64_t> done(requests.size());
  std::vector<DramSchedule::Completion> completed;
  std::vector<Tick> pending;     // completion times of reads on the bus
  std::size_t waiting = 0;       // reads that are not on the bus yet
  std::optional<Tick> accepted;  // acceptance of the last write
  const auto decide = [&](Tick until) {
    completed.clear();
    schedule.decide(until, completed);
    for (const auto& [number, read] : completed) {
      if (requests[number].write) {
        accepted = read.done;
        continue;
      }
      --waiting;
      pending.push_back(read.done);
      done[number] = read.done.ps / period.ps;
    }
    std::erase_if(pending, [until](Tick end) { return end <= until; });
  };
  Tick sent{};
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    sent = later(sent, period * arrival[i]);
    decide(sent);
    if (requests[i].write) {
      accepted = schedule.write_later(requests[i].address, burst_bytes, sent, i);
      for (Tick now = sent; !accepted; decide(now)) now = now + period;
      sent = *accepted;
      done[i] = sent.ps / period.ps;
      continue;
    }
    for (; waiting + pending.size() == kInFlight; decide(sent)) sent = sent + period;
    schedule.read_later(requests[i].address, burst_bytes, sent, i);
    ++waiting;
  }
  schedule.finish();
  decide(sent);
  return result_of(requests, arrival, std::move(done));
}

/// Returns the number of requests whose times differ and a description of the first of them, as text; empty if there are none.
std::string differences(const std::vector<Request>& requests, const Result& ours, const Result& reference) {
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (ours.done[i] == reference.done[i] || count++ != 0) continue;
    first = fmt::format("{} {} in cycle {} instead of {}", requests[i].write ? "write" : "read", i, ours.done[i],
                        reference.done[i]);
  }
  return count == 0 ? "" : fmt::format("{} of {} requests, first {}", count, requests.size(), first);
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

constexpr unsigned kSeeds[] = {17, 1, 2, 3, 4};

struct Case {
  const char* device;
  const char* preset;
  Traffic traffic;
};

class Mixed : public testing::TestWithParam<std::tuple<Case, unsigned>> {};

TEST_P(Mixed, EveryRequestCompletesAsInTheReferenceController) {
  const auto& [the_case, seed] = GetParam();
  const Traffic& traffic = the_case.traffic;
  const DramParameters parameters = validation::dram_preset(the_case.preset);
  const std::vector<Request> requests = requests_of(parameters, traffic, 15'000, seed);
  Comparison results(fmt::format("dram_mixed_{}_{}_{}.csv", the_case.device, traffic.name, seed), {"load"});
  const Result saturated = run_controller(parameters, requests, 1.0, kInFlight);
  const Result ours_saturated = run_schedule(parameters, requests, 1.0);
  results.add({"1.0"}, "bandwidth", ours_saturated.bandwidth, saturated.bandwidth, 0);
  EXPECT_EQ(differences(requests, ours_saturated, saturated), "") << "saturated";
  for (unsigned tenths = 1; tenths <= 8; ++tenths) {
    const double load = saturated.bandwidth * tenths / 10;
    const Result reference = run_controller(parameters, requests, load, kInFlight);
    const Result ours = run_schedule(parameters, requests, load);
    results.add({fmt::format("{:.3f}", load)}, "latency", ours.latency, reference.latency, 0);
    EXPECT_EQ(differences(requests, ours, reference), "") << "at " << load;
  }
}

// Copies of several arrays use several rows of a bank in turn: the arrays' addresses determine the bank.
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

struct Errors {
  double sum = 0;
  double worst = 0;
  unsigned points = 0;

  void add(double error) {
    sum += error;
    if (std::abs(error) > std::abs(worst)) worst = error;
    ++points;
  }
  double mean() const { return points != 0 ? sum / points : 0; }
};

class DramSpace : public testing::TestWithParam<const char*> {};

TEST_P(DramSpace, EveryMixOfTrafficCompletesAsInTheReferenceController) {
  constexpr unsigned kMixes[] = {0, 10, 25, 50, 75, 90, 100};
  constexpr unsigned kArrays[] = {1, 2, 3, 4, 6, 8, 12};
  std::vector<std::pair<std::string, Traffic>> space;  // traffics with their classes
  for (const unsigned writes : kMixes) {
    space.push_back({fmt::format("random_{}", writes), {"", false, writes, 0}});
    space.push_back({fmt::format("sequential_{}", writes), {"", true, writes, 0}});
    for (const unsigned arrays : kArrays) space.push_back({fmt::format("streams_{}", writes), {"", false, writes, 0, arrays}});
  }
  for (const unsigned arrays : kArrays) space.push_back({"copies", {"", false, 50, arrays}});

  const char* const standard = GetParam();
  const DramParameters parameters = validation::dram_preset(fmt::format("{}.cfg", standard).c_str());
  std::map<std::string, std::pair<Errors, Errors>> classes;
  for (const auto& [name, traffic] : space) {
    auto& [bandwidth, latency] = classes[name];
    const std::vector<Request> requests = requests_of(parameters, traffic, 8'000, 1);
    const Result saturated = run_controller(parameters, requests, 1.0, kInFlight);
    const Result ours_saturated = run_schedule(parameters, requests, 1.0);
    bandwidth.add(ours_saturated.bandwidth / saturated.bandwidth - 1);
    EXPECT_EQ(differences(requests, ours_saturated, saturated), "") << name << ", saturated";
    for (const double part : {0.3, 0.6, 0.8}) {
      const double load = saturated.bandwidth * part;
      const Result reference = run_controller(parameters, requests, load, kInFlight);
      const Result ours = run_schedule(parameters, requests, load);
      if (traffic.writes != 100) latency.add(ours.latency / reference.latency - 1);
      EXPECT_EQ(differences(requests, ours, reference), "") << name << " at " << load;
    }
  }
  fmt::print("{:16} {:>26} {:>26}\n", standard, "bandwidth mean, worst %", "latency mean, worst %");
  for (const auto& [name, errors] : classes) {
    const auto& [bandwidth, latency] = errors;
    fmt::print("{:16} {:13.1f} {:12.1f} {:13.1f} {:12.1f}\n", name, 100 * bandwidth.mean(), 100 * bandwidth.worst,
               100 * latency.mean(), 100 * latency.worst);
  }
}

INSTANTIATE_TEST_SUITE_P(Standards, DramSpace, testing::Values("hbm", "hbm2", "hbm2e", "gddr5"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace lacuna
