// Six of our kernels on the configuration r9nano-mgpusim, compared with the results of MGPUSim v3.0.3 for its own kernels of
// the same algorithms (reference/mgpusim_r9nano.csv): instructions, time, instructions per cycle, and their growth with the
// size of the problem. docs/deviations/mgpusim.md explains the differences. The kernels' results must equal those of the host
// bit by bit.
//
//  Larger problems: mgpusim_validation --gtest_also_run_disabled_tests --gtest_filter='*Larger*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/validation/mgpusim/workloads.h"
#include "tests/validation/reference_table.h"

namespace lacuna::validation {
namespace {

namespace fs = std::filesystem;

/// Totals of all dispatches of a run.
struct Measured {
  double instructions = 0;
  double cycles = 0;  // cycles of the core clock, 1 GHz in both simulators
  double wall_seconds = 0;
  std::vector<double> launches;  // cycles of each dispatch
  double per_cycle() const { return instructions / cycles; }
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs BENCHMARK.launch, whose comparisons with the host's results must succeed.
Measured run(const std::string& benchmark, const std::string& problem, const char* settings = "") {
  const fs::path folder = fs::path(LACUNA_VALIDATION_DIR) / "mgpusim" / benchmark;
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(fs::path(LACUNA_LAUNCH_FILES) / (benchmark + ".launch"), folder / "run.launch");
  for (const fs::directory_entry& entry : fs::directory_iterator(LACUNA_KERNELS)) {
    if (entry.path().extension() == ".co") fs::create_symlink(entry.path(), folder / entry.path().filename());
  }
  std::string command = fmt::format("'{}' launch '{}' --config r9nano-mgpusim {} --out '{}'", LACUNA_PROGRAM,
                                    (folder / "run.launch").string(), settings, (folder / "out").string());
  for (const auto& [name, value] : write_workload(benchmark, parse_options(problem), folder))
    command += fmt::format(" --define {}={}", name, value);
  const int status = std::system(fmt::format("{} >'{}' 2>&1", command, (folder / "log.txt").string()).c_str());
  EXPECT_EQ(status, 0) << command << '\n' << text_of(folder / "log.txt");
  Measured sum;
  if (status != 0) return sum;
  for (const Row& row : read_table(folder / "out/kernels.csv")) {
    sum.instructions += row.number("wavefront_instructions").value();
    sum.cycles += row.number("cycles").value();
    sum.launches.push_back(row.number("cycles").value());
    sum.wall_seconds += row.number("wall_seconds").value();
  }
  return sum;
}

struct Point {
  Measured ours;
  Measured theirs;
};

TEST(AgainstMgpusim, InstructionsPerCycleAndScaling) {
  // Launches, kernels and compilers differ (docs/deviations/mgpusim.md); these bounds detect changes beyond the known
  // differences.
  constexpr double kInstructions = 0.3;
  constexpr double kRate = 0.25;
  constexpr double kMeanTime = 0.1;  // time at equal instructions, mean over the benchmarks of one launch
  constexpr double kScaling = 0.25;
  Comparison results("mgpusim_r9nano.csv", {"benchmark", "problem"});
  std::map<std::string, Point> smaller;  // previous problem of each benchmark
  unsigned rows = 0;
  double excess = 0;    // sum of relative errors of time at equal instructions, over the problems with one launch
  unsigned single = 0;  // number of these problems
  for (const Row& row : read_reference("mgpusim_r9nano.csv")) {
    if (row.text("version_mode") != "v3.0.3 timing r9nano") continue;
    const std::string& benchmark = row.text("benchmark");
    const std::string& problem = row.text("problem");
    SCOPED_TRACE(benchmark + ' ' + problem);
    const auto compare = [&](const char* quantity, double ours, double theirs, double allowed) {
      const double error = results.add({benchmark, problem}, quantity, ours, theirs, allowed);
      if (allowed == 0) return;  // reported only
      EXPECT_LE(std::abs(error), allowed) << quantity << ": " << ours << " against " << theirs;
    };
    const Point point{run(benchmark, problem),
                      {.instructions = row.number("wavefront_instructions").value(),
                       .cycles = row.number("kernel_time_us").value() * 1000,
                       .wall_seconds = row.number("wall_s").value(),
                       .launches = {}}};
    const Measured in_turn = run(benchmark, problem, "--set cu.simd_policy=in_turn");
    ASSERT_GT(point.ours.cycles, 0);
    ASSERT_GT(in_turn.cycles, 0);
    compare("wavefront_instructions", point.ours.instructions, point.theirs.instructions, kInstructions);
    compare("kernel_time_us", point.ours.cycles / 1000, point.theirs.cycles / 1000, 0);
    compare("instructions_per_cycle", point.ours.per_cycle(), point.theirs.per_cycle(), kRate);
    compare("instructions_per_cycle_simds_in_turn", in_turn.per_cycle(), point.theirs.per_cycle(), 0);
    if (benchmark != "kmeans" && benchmark != "bfs") {
      excess += point.theirs.per_cycle() / point.ours.per_cycle() - 1;
      ++single;
    }
    if (const auto before = smaller.find(benchmark); before != smaller.end()) {
      compare("cycles_against_smaller", point.ours.cycles / before->second.ours.cycles,
              point.theirs.cycles / before->second.theirs.cycles, kScaling);
    }
    compare("kilo_instructions_per_wall_second", point.ours.instructions / point.ours.wall_seconds / 1000,
            point.theirs.instructions / point.theirs.wall_seconds / 1000, 0);
    smaller[benchmark] = point;
    ++rows;
  }
  EXPECT_EQ(rows, 9U);
  ASSERT_EQ(single, 7U);
  EXPECT_LE(std::abs(excess / single), kMeanTime);
}

// A wavefront whose lanes walk along rows of 2 KiB uses only two sets of its L1, so at most eight lines are in flight, fewer
// than there are MSHRs. MGPUSim took 1,412 us for its column-wise product of a matrix (one launch of its ATAX or BICG
// benchmark); the matrix of 512 x 512 floats and the work-groups of 256 are our assumptions.
TEST(AgainstMgpusim, ColumnWiseProductHoldsItsWays) {
  constexpr double kTheirs = 1412;
  const double ours = run("matvec_rows", "-x 512").cycles / 1000;
  const double unlocked = run("matvec_rows", "-x 512", "--set l1v.lock_cycles=0 --set l1v.in_order=false").cycles / 1000;
  fmt::print("column-wise product: {:.0f} us, MGPUSim {:.0f} us; with ways that are not locked {:.0f} us\n", ours, kTheirs,
             unlocked);
  EXPECT_NEAR(ours, kTheirs, 0.25 * kTheirs);
  EXPECT_LT(unlocked, ours / 2);
}

/// Mean time of the launches from number `first` to the last one, in cycles.
double mean_from(const Measured& measured, std::size_t first) {
  const std::vector<double>& launches = measured.launches;
  return std::accumulate(launches.begin() + static_cast<std::ptrdiff_t>(first), launches.end(), 0.0) /
         static_cast<double>(launches.size() - first);
}

// MGPUSim's driver flushes all caches between launches that it finds enqueued (docs/deviations/mgpusim.md). The data of each
// level of a transform come from DRAM, although they fit into the L2. A line of 64 B takes a burst of 128 B, so that 16
// controllers of 32 GB/s need 1,024 cycles for 65,536 floats. Data that are still in the L2 arrive in a part of this time.
TEST(AgainstMgpusim, LaterLaunchesReadTheirDataFromDram) {
  constexpr double kTransfer = 65536.0 * sizeof(float) * 2 / (16 * 32);
  const Measured flushed = run("walsh", "-length 65536");
  const Measured kept = run("walsh", "-length 65536", "--set cp.flush_before_dispatch=false");
  ASSERT_EQ(flushed.launches.size(), 16U);
  ASSERT_EQ(kept.launches.size(), 16U);
  EXPECT_EQ(flushed.launches[0], kept.launches[0]) << "the first launch finds empty caches anyway";
  const double longer = mean_from(flushed, 1) - mean_from(kept, 1);
  fmt::print("Walsh transform of 65,536: {:.0f} cycles each later launch, {:.0f} without flushes\n", mean_from(flushed, 1),
             mean_from(kept, 1));
  EXPECT_LE(longer, kTransfer);
  EXPECT_GE(longer, 0.75 * kTransfer);
}

// The launch of a kernel that is too small for any bandwidth to matter, with stages as counted in MGPUSim's sources
// (configs/r9nano-mgpusim.cfg). Code and arguments are in new pages.
TEST(AgainstMgpusim, ALaterLaunchTakesTheSumOfItsStages) {
  constexpr double kPath = 600;                        // driver, PCIe, command processor, and back
  constexpr double kWalk = 3 + 700;                    // L2 TLB, and MMU on the other side of PCIe
  constexpr double kBelowL1 = 53;                      // L2 miss: 2, network and DRAM 38, fill 13
  constexpr double kFetch = 8 + kWalk + kBelowL1 + 6;  // l1i.tag_latency, l1i.fill_latency
  constexpr double kArguments = 14 + 3 + kWalk + kBelowL1 + 1;
  constexpr double kInstruction = 5;  // vector instructions, which are most of them
  constexpr double kLoad = 137;
  constexpr double kStore = 75 + 3 + 14 + 5;
  const Measured measured = run("walsh", "-length 1024");
  ASSERT_EQ(measured.launches.size(), 10U);
  const double instructions = measured.instructions / (10 * 8);  // of each of the 8 wavefronts of a launch
  const double sum = kPath + kFetch + kArguments + instructions * kInstruction + kLoad + kStore;
  // From the fifth level on, both elements of a work-item are in lines that its wavefront uses completely.
  const double later = mean_from(measured, 4);
  fmt::print("Walsh transform of 1,024: {:.0f} cycles each later launch, the sum of its stages is {:.0f}\n", later, sum);
  EXPECT_NEAR(later, sum, 0.06 * sum);
}

// Checks the results and the time per work-item of problems that MGPUSim executed only functionally or not at all.
TEST(AgainstMgpusim, DISABLED_LargerProblems) {
  const std::vector<std::pair<std::string, std::string>> problems{
      {"matrixmultiplication", "-x 512 -y 512 -z 512"},
      {"simpleconvolution", "-width 1022 -height 1022 -mask-size 3"},
      {"fir", "-length 524288"},
      {"kmeans", "-points 16384 -features 32 -clusters 5 -max-iter 5"},
      {"relu", "-length 4194304"},
      {"bfs", "-node 262144 -degree 3 -random 1"},
  };
  for (const auto& [benchmark, problem] : problems) {
    SCOPED_TRACE(benchmark + ' ' + problem);
    const Measured measured = run(benchmark, problem);
    fmt::print("{} {}: {:.0f} wavefront instructions, {:.0f} cycles, {:.2f} instructions per cycle\n", benchmark, problem,
               measured.instructions, measured.cycles, measured.per_cycle());
  }
}

}  // namespace
}  // namespace lacuna::validation
