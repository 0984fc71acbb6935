// The preset mi210, compared with measurements of the product (reference/mi210.csv):
//    - te42kyfo/gpu-benches, gpu-latency/mi210.txt: one work-item follows pointers through 4 KiB, half a MiB and 32 MiB;
//      gpu-stream/mi210.txt: vectors of 1 GiB.
//    - ROCm/omniperf (later renamed rocprofiler-compute), tests/workloads/device_filter/MI200: roofline.csv, and times and
//      counters of three launches of a copy of 1 M doubles (timestamps.csv, pmc_perf.csv). The first launch ran at the idle
//      clock: its 16,213 busy cycles (SQ_BUSY_CYCLES of one engine) in 19.7 us are 0.82 GHz. The other two launches ran at 1.7
//      GHz.
//  The latencies of the preset are fitted to the first source; times of copies are predictions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/validation/micro/machine.h"
#include "tests/validation/micro/pointer_chain.h"
#include "tests/validation/reference_table.h"

namespace lacuna::validation {
namespace {

double reference(const std::string& source, const std::string& quantity) {
  for (const Row& row : read_reference("mi210.csv")) {
    if (row.text("source") == source && row.text("quantity") == quantity) return row.number("value").value();
  }
  throw std::invalid_argument("mi210.csv has no " + source + ", " + quantity);
}

std::string code() { return fmt::format("[code]\nfile = {}/memory_streams_gfx90a.co\n", kernels()); }

constexpr double kClock = 1.7;  // GHz

TEST(Mi210, Latencies) {
  constexpr unsigned kLine = 64;
  Comparison results("mi210_latency.csv", {"level"});
  Machine machine("mi210_latency", "mi210", {});
  for (const ChainLevel& level : {ChainLevel{"L1 load", 64, 64, true}, ChainLevel{"L2 load", 8192, 8191, true},
                                  ChainLevel{"memory load", 1 << 19, 4096, false}}) {
    const double cycles = load_latency(machine, level, kLine) * kClock;
    const double expected = reference("gpu-benches latency", level.name);
    EXPECT_LE(std::abs(results.add({level.name}, "cycles", cycles, expected, 0.04)), 0.04) << level.name << ": " << cycles;
  }
}

// The measured and the simulated time are means: launches on the product differ by a few per cent; simulated launches differ
// because of the state in which the previous launch leaves the L2. The first launch is excluded, since it has nothing to write
// back.
TEST(Mi210, CopyOfAMillionDoubles) {
  constexpr unsigned kLaunches = 9;
  constexpr unsigned kChannels = 32;
  Comparison results("mi210_copy.csv", {"launches"});
  Machine machine("mi210_copy", "mi210", {});
  std::string text = code() + "[buffer a]\ncontents = zero:8388608\n[buffer c]\ncontents = zero:8388608\n";
  for (unsigned i = 0; i < kLaunches; ++i) text += "[dispatch copy]\ngrid = 1048576\narg = buf:a\narg = buf:c\n";
  machine.launch(text, {});
  const std::vector<double> times = machine.dispatch_times("copy");
  ASSERT_EQ(times.size(), kLaunches);
  const double mean = std::accumulate(times.begin() + 1, times.end(), 0.0) / (kLaunches - 1) / 1000;
  const double expected = (reference("omniperf vcopy 2", "kernel time") + reference("omniperf vcopy 3", "kernel time")) / 2;
  EXPECT_LE(std::abs(results.add({"2 and later"}, "us", mean, expected, 0.15)), 0.15)
      << mean << " against " << expected << " us";

  // Ours are means over all channels.
  const auto sum_of_later = [&](const std::string& column) {
    const std::vector<double> values = machine.dispatch_values("copy", column);
    return std::accumulate(values.begin() + 1, values.end(), 0.0);
  };
  const double waiting = sum_of_later("dram_queueing_ps") + sum_of_later("dram_service_ps");
  const double latency = waiting / sum_of_later("vector_from_memory") / 1000 * kClock;
  const double in_flight = waiting / 1000 / std::accumulate(times.begin() + 1, times.end(), 0.0) / kChannels;
  const double measured = (reference("omniperf vcopy 2", "L2 to memory read latency") +
                           reference("omniperf vcopy 3", "L2 to memory read latency")) /
                          2;
  const double counted = (reference("omniperf vcopy 2", "reads in flight of a busy channel") +
                          reference("omniperf vcopy 3", "reads in flight of a busy channel")) /
                         2;
  EXPECT_LE(std::abs(results.add({"2 and later"}, "cycles of a read", latency, measured, 0.5)), 0.5) << latency;
  EXPECT_LE(std::abs(results.add({"2 and later"}, "reads in flight", in_flight, counted, 0.5)), 0.5) << in_flight;
}

// Vectors of 64 MiB are eight times as large as the L2, so data that remain in the L2 hardly matter. They are also long enough
// for the order of requests to become that of a long run.
TEST(Mi210, RatesOfDram) {
  constexpr unsigned kElements = 1 << 23;
  Comparison results("mi210_streams.csv", {"kernel"});
  Machine machine("mi210_streams", "mi210", {});
  std::string text = code();
  for (const char* buffer : {"a", "b", "c"}) text += fmt::format("[buffer {}]\ncontents = zero:{}\n", buffer, 8 * kElements);
  text += fmt::format("[dispatch read]\ngrid = {}\narg = buf:a\narg = buf:c\n", kElements);
  text += fmt::format("[dispatch copy]\ngrid = {}\narg = buf:a\narg = buf:c\n", kElements);
  text += fmt::format("[dispatch triad]\ngrid = {}\narg = buf:a\narg = buf:b\narg = buf:c\narg = f64:1.75\n", kElements);
  machine.launch(text, {});
  const double read = 8.0 * kElements / machine.dispatch_times("read").at(0);
  const double copy = 16.0 * kElements / machine.dispatch_times("copy").at(0);
  const double triad = 24.0 * kElements / machine.dispatch_times("triad").at(0);
  EXPECT_LE(std::abs(results.add({"read"}, "GB/s", read, reference("gpu-benches stream", "read"), 0.1)), 0.1) << read;
  EXPECT_LE(std::abs(results.add({"copy"}, "GB/s", copy, reference("omniperf roofline", "copy of doubles from memory"), 0.2)),
            0.2)
      << copy;
  EXPECT_LE(std::abs(results.add({"triad"}, "GB/s", triad, reference("gpu-benches stream", "triad"), 0.2)), 0.2) << triad;
}

}  // namespace
}  // namespace lacuna::validation
