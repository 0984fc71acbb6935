#include "platform/sweep/sampled_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/results_report.h"
#include "platform/sweep/stored_points.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using Values = std::vector<std::pair<std::string, double>>;

/// Statistics of a run with two sampled kernels: `k`, with half-widths of 2 % of its cycles and 5 % of its energy, and `m`,
/// with 1 % of its cycles. Two kernels that were timed completely have names that begin with `k`.
Values sampled_run() {
  return {{"run.simulated_ps", 9e6},
          {"energy.gpu.whole.joules", 40},
          {"energy.gpu.kernels.joules", 30},
          {"energy.gpu.idle.joules", 10},
          {"energy.gpu.whole.time_ps", 8e6},
          {"gpu.l2_0.reads", 77},
          {"kernels.k.dispatches", 3},
          {"kernels.k.cycles", 1000},
          {"kernels.k.most_cycles", 400},
          {"kernels.k.time_ps", 2e6},
          {"kernels.k.wavefront_instructions", 12345},
          {"kernels.k.untimed_instructions", 10000},
          {"kernels.k.half_width_cycles", 20},
          {"kernels.k.wall_seconds", 1.5},
          {"kernels.k.activity.issued.valu", 500},
          {"kernels.k.activity.memory.l2_reads", 600},
          {"kernels.k.energy.joules", 10},
          {"kernels.k.energy.half_width_joules", 0.5},
          {"kernels.k.energy.mean_watts", 5},
          {"kernels.k.energy.energy_delay_js", 100},
          {"kernels.k.energy.blocks.valu", 4},
          {"kernels.k.b.cycles", 300},
          {"kernels.k.b.half_width_cycles", 0},
          {"kernels.kk.cycles", 100},
          {"kernels.kk.half_width_cycles", 0},
          {"kernels._Z1mPf.cycles", 500},
          {"kernels._Z1mPf.half_width_cycles", 5},
          {"kernels._Z1mPf.time_ps", 1e6}};
}

class SampledPoints : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    database_.emplace(folder_ / "results.db", false);
  }

  void add(const std::string& key, const Values& values) {
    PointRecord point;
    point.key = key;
    point.state = PointState::done;
    point.date = date_now();
    for (const auto& [path, value] : values) point.results.statistics.push_back({path, "", value});
    database_->add(point);
  }

  /// Stores a sweep with a point for each repetition of each machine.
  void add_sweep(const std::vector<std::pair<std::string, std::vector<Values>>>& machines, const std::string& name = "s") {
    std::vector<SweepMember> members;
    for (const auto& [machine, repetitions] : machines) {
      for (std::size_t i = 0; i < repetitions.size(); ++i) {
        const std::string seed = std::to_string(i);
        const std::string key = name + machine + seed;
        members.push_back({{{"machine", machine}}, {{"seed", seed}}, key});
        add(key, repetitions[i]);
      }
    }
    database_->begin_sweep(name, name + ".sweep", "text", {}, members);
  }

  std::vector<PointGroup> load(const std::string& metric, const std::string& name = "s") {
    return load_points(*database_, {name, {}}, {{"x", metric}}, {});
  }

  /// The interval of a metric of one run, as load_points() returns it.
  double half_width(const std::string& metric) { return load(metric).front().values.front().own_half_width(); }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "lacuna_sampled_points";
  std::optional<ResultsDatabase> database_;
};

Values values_of_cycles(double value, double half_width) {
  return {{"kernels.k.cycles", value}, {"kernels.k.half_width_cycles", half_width}};
}

TEST_F(SampledPoints, HaveTheIntervalsOfTheirKernels) {
  add_sweep({{"a", {sampled_run()}}});
  const Values expected{{"kernels.k.cycles", 20},
                        {"kernels.k.most_cycles", 8},
                        {"kernels.k.time_ps", 4e4},
                        {"kernels.k.activity.memory.l2_reads", 12},
                        {"kernels.k.energy.joules", 0.5},
                        {"kernels.k.energy.mean_watts", 0.25},
                        {"kernels.k.energy.blocks.valu", 0.2},
                        {"kernels.k.energy.energy_delay_js", 7},
                        {"kernels.m.cycles", 5},
                        {"kernels.*.cycles", 25},
                        {"kernels.*.time_ps", 5e4},
                        {"run.simulated_ps", 5e4},
                        {"energy.gpu.whole.time_ps", 5e4},
                        {"energy.gpu.whole.joules", 0.5},
                        {"energy.gpu.kernels.joules", 0.5},
                        {"energy.*.kernels.joules", 0.5}};
  for (const auto& [path, half] : expected) EXPECT_NEAR(half_width(path), half, 1e-9 * half) << path;
  for (const char* path : {"kernels.k.dispatches", "kernels.k.wavefront_instructions", "kernels.k.untimed_instructions",
                           "kernels.k.half_width_cycles", "kernels.k.wall_seconds", "kernels.k.activity.issued.valu",
                           "kernels.k.energy.half_width_joules", "kernels.k.b.cycles", "kernels.kk.cycles", "gpu.l2_0.reads",
                           "energy.gpu.idle.joules"})
    EXPECT_EQ(half_width(path), 0) << path;
}

TEST_F(SampledPoints, ArePropagatedThroughExpressions) {
  add_sweep({{"a", {sampled_run()}}});
  EXPECT_DOUBLE_EQ(half_width("{kernels.k.cycles} * 3 + 7"), 60);
  EXPECT_DOUBLE_EQ(half_width("-{kernels.k.cycles}"), 20);
  EXPECT_DOUBLE_EQ(half_width("{kernels.k.cycles} + {kernels.m.cycles}"), std::hypot(20, 5));
  EXPECT_NEAR(half_width("{kernels.k.cycles} / {kernels.k.activity.issued.valu}"), 20.0 / 500, 1e-12);
  EXPECT_NEAR(half_width("{kernels.m.cycles} / {kernels.k.cycles}"), 0.5 * std::hypot(0.01, 1 - 1 / 1.02), 1e-12);
  EXPECT_EQ(half_width("{kernels.k.cycles} / {kernels.k.cycles}"), 0) << "the same value moves in both places";
  // The metric has no value where its divisor is 0.
  EXPECT_NEAR(half_width("1 / ({kernels.k.cycles} - 1020)"), 1.0 / 20 - 1.0 / 40, 1e-12);
}

TEST_F(SampledPoints, AreIndependentOfTheirReferences) {
  add_sweep(
      {{"old", {values_of_cycles(2000, 100)}}, {"new", {values_of_cycles(1000, 20)}}, {"timed", {values_of_cycles(500, 0)}}});
  const auto groups = load("{kernels.k.cycles @ machine=old} / {kernels.k.cycles}");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].values[0].mean, 1);
  EXPECT_EQ(groups[0].values[0].own_half_width(), 0) << "it is its own reference";
  EXPECT_NEAR(groups[1].values[0].own_half_width(), std::hypot(0.1, 2 - 2 / 1.02), 1e-12);
  EXPECT_NEAR(groups[2].values[0].own_half_width(), 0.2, 1e-12);
}

TEST_F(SampledPoints, OfOlderRunsAreExact) {
  add_sweep({{"a", {{{"kernels.k.cycles", 1000}, {"run.simulated_ps", 5}}}}});
  EXPECT_EQ(half_width("kernels.k.cycles"), 0);
  EXPECT_EQ(half_width("run.simulated_ps"), 0);
  EXPECT_EQ(load("kernels.k.cycles").front().values.front().half_width(), std::nullopt);
}

TEST_F(SampledPoints, AreMarkedInTables) {
  add_sweep({{"one", {values_of_cycles(1000, 20)}},
             {"three", {values_of_cycles(1000, 20), values_of_cycles(1001, 22), values_of_cycles(999, 18)}},
             {"timed", {values_of_cycles(1000, 0), values_of_cycles(1002, 0)}}});
  const std::vector<ReportedMetric> metrics{{{"cycles", "kernels.k.cycles"}, ""}};
  const auto groups = load("kernels.k.cycles");
  const auto table = [&](const WantedInterval& wanted) {
    std::ostringstream text;
    write_groups(groups, metrics, wanted, text);
    return text.str();
  };
  // Machine "three": s = 1, t = 4.303, so Student's interval is ± 2.484; with sampled timing it is ± sqrt(2.484^2 + 20^2) =
  // 20.15.
  EXPECT_EQ(table({0.05, true}),
            "machine    done               cycles  for ± 5 %\n"
            "one      1 of 1  1,000 ± 2 % sampled          -\n"
            "three    3 of 3  1,000 ± 2 % sampled          2\n"
            "timed    2 of 2        1,001 ± 1.3 %          2\n"
            "± is the 95 % confidence interval of the mean by Student's t; one sample has none\n"
            "sampled: an estimate by sampled timing, whose own interval is included and does not narrow with more samples\n"
            "samples that ± 5 % needs: cycles 2\n");
  EXPECT_THAT(table({}), HasSubstr("samples that ± 1 % needs: cycles 3 or no number where sampled timing alone is wider\n"));
  std::ostringstream csv;
  write_groups_csv(groups, metrics, {}, csv);
  EXPECT_THAT(csv.str(), HasSubstr("_needed,cycles_sampled\none,1,1,1000,1000,1000,1,980,1020,,,20\n"));
  EXPECT_THAT(csv.str(), HasSubstr(",1,,20\ntimed,2,2,1001,"));
  EXPECT_THAT(csv.str(), testing::EndsWith(",3,\n"));
}

TEST_F(SampledPoints, OfOneSampleHaveTheirIntervalOnly) {
  add_sweep({{"one", {values_of_cycles(1000, 20)}}});
  std::ostringstream text;
  write_groups(load("kernels.k.cycles"), {{{"cycles", "kernels.k.cycles"}, ""}}, {}, text);
  EXPECT_EQ(text.str(),
            "machine    done               cycles\n"
            "one      1 of 1  1,000 ± 2 % sampled\n"
            "one sample each: no intervals except those of sampled timing\n"
            "sampled: an estimate by sampled timing, whose own interval is included and does not narrow with more samples\n");
}

TEST_F(SampledPoints, DifferWhenTheirIntervalsDoNotOverlap) {
  const auto changed = [&](double half_width) {
    const std::string name = "s" + std::to_string(static_cast<int>(half_width));
    add_sweep({{"a", {values_of_cycles(1000, half_width)}}}, name + "before");
    add_sweep({{"a", {values_of_cycles(1030, half_width)}}}, name + "after");
    std::ostringstream text;
    return write_comparison(load("kernels.k.cycles", name + "before"), load("kernels.k.cycles", name + "after"),
                            {{{"cycles", "kernels.k.cycles"}, ""}}, 0.01, text);
  };
  EXPECT_EQ(changed(0), 1U);
  EXPECT_EQ(changed(14), 1U);
  EXPECT_EQ(changed(16), 0U);
}

}  // namespace
}  // namespace lacuna
