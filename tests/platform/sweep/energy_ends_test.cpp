// Metrics of energies with all energies at their low and at their high ends.
#include "platform/sweep/energy_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/result_columns.h"
#include "platform/sweep/results_report.h"
#include "platform/sweep/stored_points.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string low(const std::string& path) { return path_at(path, EnergyBound::low).value_or("none"); }

TEST(EnergyEnds, ArePathsWithAPrefix) {
  EXPECT_EQ(low("kernels.*[!)].energy.joules"), "kernels.*[!)].energy.low_joules");
  EXPECT_EQ(low("kernels.a.energy.b.energy.blocks.valu"), "kernels.a.energy.b.energy.low_blocks.valu");
  EXPECT_EQ(low("kernels.a.energy.mean_watts"), "kernels.a.energy.low_mean_watts");
  EXPECT_EQ(low("energy.gpu0.whole.blocks.*"), "energy.gpu0.whole.low_blocks.*");
  EXPECT_EQ(low("sida.energy.buffer_by_kind.x"), "sida.energy.low_buffer_by_kind.x");
  EXPECT_EQ(path_at("sida.energy.total", EnergyBound::high), "sida.energy.high_total");
  for (const char* path :
       {"kernels.a.cycles", "kernels.a.energy.peak_watts", "kernels.a.energy.low_joules", "kernels.a.energy.half_width_joules",
        "energy.gpu0.whole.time_ps", "energy.gpu0.static_watts.l2", "kernels.energy.cycles", "energy", "result.energy"})
    EXPECT_EQ(low(path), "none") << path;
}

TEST(EnergyEnds, OfAMetricAreThoseOfAllItsPaths) {
  const auto ends = metric_at({"x", "1 - {k.energy.joules} / {k.energy.joules @ a=1} * {k.cycles}"}, EnergyBound::high);
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->name, "x");
  EXPECT_EQ(ends->text, "1 - {k.energy.high_joules} / {k.energy.high_joules @ a=1} * {k.cycles}");
  EXPECT_EQ(metric_at({"x", "sida.energy.total"}, EnergyBound::low)->text, "sida.energy.low_total");
  EXPECT_FALSE(metric_at({"x", "{k.cycles} / {k.cycles @ a=1}"}, EnergyBound::low));
}

TEST(EnergyEnds, ColumnsAreReserved) {
  EXPECT_TRUE(result_columns::is_of_metric("joules_at_low_energies", "joules"));
  EXPECT_TRUE(result_columns::is_of_metric("joules_at_high_energies", "joules"));
  EXPECT_FALSE(result_columns::is_of_metric("joules_at_energies", "joules"));
}

// Errors are common to all points: the ratio of two energies is that of both low ends, or of both high ends.
TEST(EnergyEnds, ARatioIsOfBothEnergiesAtTheSameEnd) {
  const fs::path folder = fs::path(::testing::TempDir()) / "lacuna_energy_ends";
  fs::remove_all(folder);
  fs::create_directories(folder);
  ResultsDatabase database(folder / "results.db", false);
  std::vector<SweepMember> members;
  const auto add = [&](const std::string& machine, const std::vector<std::pair<std::string, double>>& values) {
    PointRecord point;
    point.key = machine;
    point.state = PointState::done;
    point.date = date_now();
    for (const auto& [path, value] : values) point.results.statistics.push_back({path, "J", value});
    members.push_back({{{"machine", machine}}, {}, machine});
    database.add(point);
  };
  add("old", {{"kernels.k.cycles", 5},
              {"kernels.k.energy.joules", 10},
              {"kernels.k.energy.low_joules", 5},
              {"kernels.k.energy.high_joules", 20}});
  add("new", {{"kernels.k.cycles", 5},
              {"kernels.k.energy.joules", 8},
              {"kernels.k.energy.low_joules", 3.5},
              {"kernels.k.energy.high_joules", 17}});
  add("earlier", {{"kernels.k.cycles", 5}, {"kernels.k.energy.joules", 8}});
  database.begin_sweep("s", "s.sweep", "text", {}, members);
  const std::vector<Metric> metrics{{"joules", "kernels.k.energy.joules"},
                                    {"ratio", "{kernels.k.energy.joules} / {kernels.k.energy.joules @ machine=old}"},
                                    {"cycles", "kernels.k.cycles"}};
  const auto groups = load_points(database, {"s", {}}, metrics, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].ends[0].low.mean, 3.5);
  EXPECT_EQ(groups[1].ends[0].high.mean, 17);
  EXPECT_EQ(groups[1].ends[1].low.mean, 0.7);
  EXPECT_EQ(groups[1].ends[1].high.mean, 0.85);
  EXPECT_FALSE(groups[1].ends[2].known());
  EXPECT_FALSE(groups[2].ends[1].known()) << "results of an earlier version";

  const std::vector<ReportedMetric> reported{{metrics[0], "J"}, {metrics[1], ""}, {metrics[2], "cycles"}};
  std::ostringstream csv;
  write_groups_csv(groups, reported, {}, csv);
  EXPECT_THAT(csv.str(), HasSubstr("joules_sampled,joules_at_low_energies,joules_at_high_energies,ratio_mean,"));
  EXPECT_THAT(csv.str(), HasSubstr("ratio_sampled,ratio_at_low_energies,ratio_at_high_energies,cycles_mean,"));
  EXPECT_THAT(csv.str(), HasSubstr("cycles_needed,cycles_sampled\n"));
  EXPECT_THAT(csv.str(), HasSubstr("\nnew,1,1,8,8,8,1,,,,,,3.5,17,0.8,0.8,0.8,1,,,,,,0.7,0.85,5,5,5,1,,,,,\n"));
  EXPECT_THAT(csv.str(), HasSubstr("\nearlier,1,1,8,8,8,1,,,,,,,,0.8,0.8,0.8,1,,,,,,,,5,5,5,1,,,,,\n"));
  std::ostringstream table;
  write_groups(groups, reported, {}, table);
  EXPECT_THAT(table.str(), HasSubstr("8 (3.5 to 17)"));
  EXPECT_THAT(table.str(), HasSubstr("0.8 (0.7 to 0.85)"));
  EXPECT_THAT(table.str(), HasSubstr("in brackets: the mean with all energies at their low and at their high ends\n"));
}

}  // namespace
}  // namespace lacuna
