#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/digest.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/results_database.h"
#include "platform/sweep/results_report.h"
#include "platform/sweep/stored_points.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Pair;

constexpr const char* kStatistics = R"({
  "run": {"lacuna": "0.1.0", "run_hash": "00ff", "simulated_ps": 1000, "ended_by": "guest"},
  "kernels": [{"kernel": "ignored", "cycles": 5}],
  "kernel_totals": [{"kernel": "relu", "cycles": 40, "classes": [{"n": 1}], "activity": {"issued": {"valu": 7}}}],
  "statistics": {"gpu": {"l2_0": {"reads": {"value": 3, "unit": "accesses", "description": "d"}},
                         "l2_1": {"reads": {"value": 4, "unit": "accesses", "description": "d"},
                                  "share": {"value": 0.5, "unit": "", "description": "d"},
                                  "none": {"value": null, "unit": "", "description": "d"}}}}})";

std::vector<std::pair<std::string, double>> numbers_of(const std::string& output) {
  std::istringstream stream(output);
  std::vector<std::pair<std::string, double>> numbers;
  for (const StatisticValue& value : parse_result_line(stream)) numbers.emplace_back(value.path, value.as_double());
  return numbers;
}

TEST(ResultLine, HasTheNumbersThatAProgramPrints) {
  EXPECT_THAT(numbers_of("a\nresult: workload=mst vertices=100 time_us=3.5,4.5 check=passed\n"),
              ElementsAre(Pair("result.vertices", 100.0), Pair("result.time_us", 4.0)));
}

TEST(ResultLine, IsTheLastOne) {
  EXPECT_THAT(numbers_of("result: a=1\nresult: b=2\nother: c=3\n"), ElementsAre(Pair("result.b", 2.0)));
  EXPECT_THAT(numbers_of("results: a=1\n result: b=2\n"), IsEmpty());
}

TEST(ResultLine, LeavesOutWhatIsNoNumber) {
  EXPECT_THAT(numbers_of("result: a=1x b=,1 c= =4 d=inf e=-2e3 f=nan g"), ElementsAre(Pair("result.e", -2000.0)));
}

TEST(Digests, AreSha256) {
  EXPECT_EQ(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4, example
  Digest a;
  a.add("ab");
  a.add("c");
  Digest b;
  b.add("a");
  b.add("bc");
  EXPECT_NE(a.text(), b.text());
}

TEST(Digests, IgnoreUnloadedSectionsOfAProgram) {
  const fs::path program = "/proc/self/exe";
  const fs::path other = fs::path(::testing::TempDir()) / "program";
  fs::copy_file(fs::canonical(program), other, fs::copy_options::overwrite_existing);
  EXPECT_EQ(program_digest(program), program_digest(other));
  // Append bytes after the sections.
  std::ofstream(other, std::ios::app | std::ios::binary) << "more";
  EXPECT_EQ(program_digest(program), program_digest(other));
  EXPECT_NE(file_digest(program), file_digest(other));
  EXPECT_THROW(program_digest("/etc/passwd"), SweepError);
  EXPECT_THROW(file_digest("/nonexistent"), SweepError);
}

TEST(PointResults, AreFlattened) {
  const PointResults results = parse_statistics(kStatistics);
  EXPECT_EQ(results.run_hash, "00ff");
  EXPECT_EQ(results.version, "0.1.0");
  std::vector<std::string> paths;
  for (const StatisticValue& value : results.statistics) paths.push_back(value.path);
  EXPECT_THAT(paths, ElementsAre("run.simulated_ps", "kernels.relu.cycles", "kernels.relu.activity.issued.valu",
                                 "gpu.l2_0.reads", "gpu.l2_1.reads", "gpu.l2_1.share"));
  EXPECT_EQ(results.statistics[0].unit, "ps");
  EXPECT_EQ(results.statistics[3].unit, "accesses");
  EXPECT_EQ(results.statistics[5].as_double(), 0.5);
  EXPECT_THROW(parse_statistics("{"), SweepError);
  EXPECT_THROW(parse_statistics("{}"), SweepError);
}

TEST(PointResults, PathsMatchNameByName) {
  EXPECT_TRUE(path_matches("gpu.l2_*.reads", "gpu.l2_15.reads"));
  EXPECT_FALSE(path_matches("gpu.*.reads", "gpu.l2_0.bank.reads"));
  EXPECT_TRUE(path_matches("kernels.?elu.cycles", "kernels.relu.cycles"));
  EXPECT_FALSE(path_matches("gpu.l2_0.read", "gpu.l2_0.reads"));
  EXPECT_TRUE(path_matches("kernels.*[!)].cycles", "kernels.relu.cycles"));
  EXPECT_FALSE(path_matches("kernels.*[!)].cycles", "kernels.Copy (runtime).cycles"));
}

// A kernel is found by its mangled name, and by the name that reports show.
TEST(PointResults, KernelsHaveTwoNames) {
  const std::string path = "kernels._Z7stencilPKfPfjj.activity.issued.valu";
  EXPECT_EQ(readable_path(path), "kernels.stencil.activity.issued.valu");
  for (const char* pattern : {"kernels.stencil.activity.issued.valu", "kernels.sten*.activity.issued.valu",
                              "kernels._Z7stencilPKfPfjj.activity.issued.valu", "kernels._Z7*.activity.issued.valu"})
    EXPECT_TRUE(path_matches(pattern, path)) << pattern;
  EXPECT_FALSE(path_matches("kernels.stencil2.activity.issued.valu", path));
  EXPECT_TRUE(path_matches("kernels.scale<float>.cycles", "kernels._Z5scaleIfEvPT_S0_i.cycles"));
  EXPECT_EQ(readable_path("gpu.l2_0.reads"), "gpu.l2_0.reads");
}

TEST(PointResults, AMissingPathHasTheNamesThatExist) {
  PointResults results;
  results.statistics = {{"kernels._Z7stencilPf.time_ps", "ps", 5},
                        {"kernels._Z7stencilPf.cycles", "cycles", 5},
                        {"kernels.relu.time_ps", "ps", 7},
                        {"kernels.relu.cycles", "cycles", 7},
                        {"result.time_us", "", 3}};
  EXPECT_EQ(path_without_result("kernels.stencil.cycles", results), "");
  EXPECT_EQ(path_without_result("kernels.stensil.cycles", results),
            "no statistic of the run has the path kernels.stensil.cycles; its kernels are stencil, relu; did you mean "
            "kernels.stencil.cycles?");
  EXPECT_THAT(path_without_result("result.gflops", results), EndsWith("its line `result:` has time_us"));
  EXPECT_THAT(path_without_result("result.gflops", {}), EndsWith("has printed no line `result: NAME=VALUE ...`"));
}

TEST(PointResults, MetricsAreSumsOrExpressions) {
  const auto sum = [](const std::string& path) -> std::optional<double> {
    if (path == "a.b") return 3;
    if (path == "c") return 4;
    return std::nullopt;
  };
  EXPECT_EQ((Metric{"x", "a.b"}.value(sum)), 3);
  EXPECT_EQ((Metric{"x", "{a.b} / {c}"}.value(sum)), 0.75);
  EXPECT_EQ((Metric{"x", "{a.b} / ({a.b} - 3)"}.value(sum)), std::nullopt);
  EXPECT_EQ((Metric{"x", "{d} + 1"}.value(sum)), std::nullopt);
  EXPECT_THAT((Metric{"x", "{a.b} / {c}"}.paths()), ElementsAre("a.b", "c"));
  EXPECT_EQ((Metric{"x", "{ a.b }+{c}"}.value(sum)), 7);
  EXPECT_THROW((Metric{"x", "{a.b} +"}.value(sum)), SweepError);
  for (const char* text : {"{{a.b}}", "{a.b", "{a.b} + {", "{}", "{a.b}}", "{ } + {c}", "{{", "}{", "{c} + {{a.b} + {c}}"})
    EXPECT_THROW((Metric{"x", text}.value(sum)), SweepError) << text;
  for (const char* text : {"{{a.b}}", "{a.b", "{", "{}", "{c} + {{a.b}"})
    EXPECT_THROW(static_cast<void>(Metric{"x", text}.paths()), SweepError) << text;
}

class Database : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }

  PointRecord record(const std::string& key, double cycles, const std::string& commit = "c0ffee") const {
    PointRecord point;
    point.key = key;
    point.state = PointState::done;
    point.inputs = {{"simulator", "1"}, {"configuration", key}};
    point.commit = commit;
    point.date = date_now();
    point.results = parse_statistics(kStatistics);
    point.results.statistics.push_back({"cycles", "cycles", cycles});
    point.results.kernel_columns = "index,kernel";
    point.results.kernels = {"0,relu", "1,relu"};
    point.results.configuration = "[gpu]\n";
    return point;
  }

  std::string refusal() const {
    try {
      ResultsDatabase(file, false);
    } catch (const SweepError& e) {
      return e.what();
    }
    return {};
  }

  std::string bytes() const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  const fs::path folder = fs::path(::testing::TempDir()) / "sweep_results";
  const fs::path file = folder / "results.db";
  const std::vector<Metric> metrics{{"cycles", "cycles"}};
};

TEST_F(Database, KeepsAPointWhole) {
  ResultsDatabase database(file, false);
  EXPECT_EQ(database.state("k"), std::nullopt);
  database.add(record("k", 10));
  EXPECT_EQ(database.state("k"), PointState::done);
  const SqliteDatabase& sql = database.connection();
  EXPECT_EQ(sql.integer("SELECT count(*) FROM kernels"), 2);
  EXPECT_EQ(sql.integer("SELECT value FROM statistics JOIN statistic_names ON id = name WHERE path = 'gpu.l2_1.reads'"), 4);
  EXPECT_EQ(sql.integer("SELECT count(*) FROM statistics"), 11);
}

TEST_F(Database, ADonePointStaysAndAFailedOneIsReplaced) {
  ResultsDatabase database(file, false);
  PointRecord failed = record("k", 1);
  failed.state = PointState::failed;
  database.add(failed);
  EXPECT_EQ(database.state("k"), PointState::failed);
  database.add(record("k", 2));
  EXPECT_EQ(database.state("k"), PointState::done);
  failed.results = {};
  database.add(failed);
  EXPECT_EQ(database.state("k"), PointState::done);
  EXPECT_EQ(database.connection().integer("SELECT count(*) FROM points"), 1);
  EXPECT_EQ(database.connection().integer("SELECT count(*) FROM kernels"), 2);
}

TEST_F(Database, RemembersWithWhichInputsAPlaceWasRun) {
  ResultsDatabase database(file, false);
  const SweepMember before{{{"n", "1"}}, {}, "old"};
  const SweepMember now{{{"n", "1"}}, {}, "new"};
  database.begin_sweep("s", "s.sweep", "text", metrics, {before});
  database.add(record("old", 1));
  EXPECT_EQ(database.earlier_inputs("s", before), std::nullopt);
  database.begin_sweep("s", "s.sweep", "text", metrics, {now});
  const auto inputs = database.earlier_inputs("s", now);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(difference({{"simulator", "2"}, {"configuration", "old"}, {"file a", "1"}}, *inputs), "file a, simulator");
  EXPECT_EQ(database.connection().integer("SELECT count(*) FROM members WHERE current"), 1);
}

TEST_F(Database, RefusesANewerVersionAndLeavesItAlone) {
  { ResultsDatabase(file, false).connection().run("PRAGMA user_version = 99"); }
  const std::string before = bytes();
  EXPECT_THAT(refusal(), HasSubstr("is of version 99, this program supports versions up to 2"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Database, RefusesADamagedFileAndLeavesItAlone) {
  {
    ResultsDatabase database(file, false);
    for (int i = 0; i < 50; ++i) database.add(record("k" + std::to_string(i), i));
  }
  std::string damaged = bytes();
  ASSERT_GT(damaged.size(), 20000u);
  damaged.replace(8192, 9000, std::string(9000, '\x5a'));
  std::ofstream(file, std::ios::binary) << damaged;
  EXPECT_THAT(refusal(), HasSubstr("damaged"));
  EXPECT_EQ(bytes(), damaged);
}

TEST_F(Database, RefusesOtherFiles) {
  std::ofstream(file) << "this is a text instead of a database, and long enough to be one";
  EXPECT_THAT(refusal(), HasSubstr("not a database"));
  fs::remove(file);
  SqliteDatabase(file, SqliteDatabase::Mode::create).run("CREATE TABLE mine(a)");
  EXPECT_THAT(refusal(), HasSubstr("not one of results of Lacuna"));
  EXPECT_THROW(ResultsDatabase(folder / "none.db", true), SweepError);
}

TEST_F(Database, TwoMayWrite) {
  ResultsDatabase a(file, false);
  ResultsDatabase b(file, false);
  a.add(record("k1", 1));
  b.add(record("k2", 2));
  b.add(record("k1", 3));
  EXPECT_EQ(a.connection().integer("SELECT count(*) FROM points"), 2);
}

TEST_F(Database, ValuesHaveASpread) {
  ResultsDatabase database(file, false);
  std::vector<SweepMember> members;
  for (int n = 1; n <= 2; ++n)
    for (int seed = 1; seed <= 2; ++seed) {
      const std::string key = std::to_string(n) + '/' + std::to_string(seed);
      members.push_back({{{"n", std::to_string(n)}}, {{"seed", std::to_string(seed)}}, key});
      database.add(record(key, 10 * n + seed));
    }
  members.push_back({{{"n", "3"}}, {{"seed", "1"}}, "not run"});
  database.begin_sweep("s", "s.sweep", "text", metrics, members);
  const auto groups = load_points(database, {"s", {}}, metrics, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].values[0].mean, 21.5);
  EXPECT_EQ(groups[1].values[0].min, 21);
  EXPECT_EQ(groups[1].values[0].max, 22);
  EXPECT_EQ(groups[2].done(), 0u);
  EXPECT_EQ(groups[2].values[0].samples, 0u);
  EXPECT_EQ(load_points(database, {"s", {}}, metrics, {"n == 2 && seed == 1"})[0].points.size(), 1u);
  EXPECT_THROW(load_points(database, {"s", {}}, metrics, {"n == 7"}), SweepError);
  EXPECT_THROW(load_points(database, {"t", {}}, metrics, {}), SweepError);
  EXPECT_EQ(unit_of(database, metrics[0]), "cycles");
  std::ostringstream csv;
  write_groups_csv(groups, {{metrics[0], "cycles"}}, {0.5}, csv);
  // The half-width of the interval is t s / root(n) = 12.706 x 0.7071 / 1.4142 = 6.353; it would be 1.757 with three samples
  // and 1.125 with four.
  EXPECT_THAT(
      csv.str(),
      MatchesRegex("n,points,done,cycles_mean,cycles_min,cycles_max,cycles_samples,cycles_low,cycles_high,cycles_deviation,"
                   "cycles_needed,cycles_sampled\n1,2,2,11.5,11,12,2,5\\.146[0-9]*,17\\.853[0-9]*,0\\.707106[0-9]*,3,\n"
                   "2,2,2,21.5,21,22,2,15\\.146[0-9]*,27\\.853[0-9]*,0\\.707106[0-9]*,2,\n3,1,0,,,,0,,,,,\n"));
}

TEST_F(Database, TablesSayWhatTheIntervalsAre) {
  ResultsDatabase database(file, false);
  const auto add = [&](int n, const std::vector<double>& cycles, std::vector<SweepMember>& members) {
    for (std::size_t seed = 0; seed < cycles.size(); ++seed) {
      const std::string key = std::to_string(n) + '/' + std::to_string(seed);
      members.push_back({{{"n", std::to_string(n)}}, {{"seed", std::to_string(seed)}}, key});
      database.add(record(key, cycles[seed]));
    }
  };
  const auto table = [&](const WantedInterval& wanted) {
    std::ostringstream out;
    write_groups(load_points(database, {"s", {}}, metrics, {}), {{metrics[0], "cycles"}}, wanted, out);
    return out.str();
  };
  std::vector<SweepMember> members;
  add(1, {100, 102, 98, 100}, members);
  add(2, {7, 7, 7}, members);
  add(3, {12345}, members);
  add(4, {-1, 1}, members);
  add(5, {1, 3}, members);
  database.begin_sweep("s", "s.sweep", "text", metrics, members);
  // n = 1: s = 1.633, t = 3.182, half-width 2.598; n = 5: s = 1.414, t = 12.706, half-width 12.706.
  EXPECT_EQ(table({0.01, true}),
            "n    done       cycles  for ± 1 %\n"
            "1  4 of 4  100 ± 2.6 %         13\n"
            "2  3 of 3      7 ± 0 %          2\n"
            "3  1 of 1       12,345          -\n"
            "4  2 of 2       0 ± 13          -\n"
            "5  2 of 2    2 ± 635 %     19,210\n"
            "± is the 95 % confidence interval of the mean by Student's t; one sample has none\n"
            "samples that ± 1 % needs: cycles 2 to 19,210 or more than can be said\n");
  members.clear();
  add(3, {12345}, members);
  database.begin_sweep("s", "s.sweep", "text", metrics, members);
  EXPECT_EQ(table({}), "n    done  cycles\n3  1 of 1  12,345\none sample each: no intervals\n");
}

TEST_F(Database, ValuesMayBeThoseOfAReference) {
  ResultsDatabase database(file, false);
  std::vector<SweepMember> members;
  for (const char* machine : {"old", "new"})
    for (int seed = 1; seed <= 3; ++seed) {
      const std::string key = machine + std::to_string(seed);
      members.push_back({{{"n", "1"}, {"machine", machine}}, {{"seed", std::to_string(seed)}}, key});
      // Cycles of old: 12, 24, 36; of new: 4, 6, and the last point has not been run.
      if (key != "new3") database.add(record(key, machine == std::string("old") ? 12 * seed : 2 + 2 * seed));
    }
  // The reference of this point has not been run.
  members.push_back({{{"n", "2"}, {"machine", "new"}}, {{"seed", "1"}}, "alone"});
  database.add(record("alone", 1));
  database.begin_sweep("s", "s.sweep", "text", metrics, members);
  const std::vector<Metric> speedup{{"speedup", "{cycles @ machine=old} / {cycles}"}};
  const auto groups = load_points(database, {"s", {}}, speedup, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].values[0].mean, 1);
  EXPECT_EQ(groups[1].values[0].samples, 2u);
  EXPECT_EQ(groups[1].values[0].min, 3);  // speedups with equal seeds: 12 / 4, 24 / 6
  EXPECT_EQ(groups[1].values[0].max, 4);
  EXPECT_EQ(groups[2].values[0].samples, 0u);
  // A condition does not exclude references.
  EXPECT_EQ(load_points(database, {"s", {}}, speedup, {"machine == \"new\" && n == 1"})[0].values[0].max, 4);
  EXPECT_NO_THROW(require_paths(database, speedup[0]));
  EXPECT_THROW(require_paths(database, {"x", "{cycle @ machine=old}"}), SweepError);
}

TEST_F(Database, VersionsAreCompared) {
  ResultsDatabase database(file, false);
  const auto members = [](const std::string& build) {
    std::vector<SweepMember> all;
    for (const char* n : {"1", "2", "3"})
      for (const char* seed : {"1", "2", "3"}) all.push_back({{{"n", n}}, {{"seed", seed}}, build + n + seed});
    return all;
  };
  const auto add = [&](const std::string& build, const std::vector<double>& cycles) {
    const auto all = members(build);
    for (std::size_t i = 0; i < all.size(); ++i) database.add(record(all[i].key, cycles[i], build));
    database.begin_sweep("s", "s.sweep", "text", metrics, all);
  };
  add("aaa", {100, 110, 105, 104, 106, 105, 100, 100, 100});
  add("bbb", {109, 130, 120, 154, 156, 155, 100.5, 100.5, 100.5});
  const auto before = load_points(database, SweepSelection::parse("s@aa"), metrics, {});
  const auto after = load_points(database, SweepSelection::parse("s@bbb"), metrics, {});
  ASSERT_EQ(before.size(), 3u);
  EXPECT_EQ(before[0].values[0].mean, 105);
  std::ostringstream text;
  // n = 1: change within the spread; n = 2: changed; n = 3: change below the threshold.
  EXPECT_EQ(write_comparison(before, after, {{metrics[0], "cycles"}}, 0.01, text), 1u);
  EXPECT_THAT(text.str(), HasSubstr("+47.6 %"));
  EXPECT_THAT(text.str(), HasSubstr("1 of 3 values have changed by more than 1 %; 1 more difference is inside the spread"));
  EXPECT_EQ(write_comparison(before, after, {{metrics[0], "cycles"}}, 0.001, text), 2u);
}

TEST(Numbers, AreGroupedAndRounded) {
  EXPECT_EQ(readable_number(1234567), "1,234,567");
  EXPECT_EQ(readable_number(-1234.5), "-1234.5");
  EXPECT_EQ(readable_number(123456.7), "123,457");
  EXPECT_EQ(readable_number(0.000123456789), "0.000123457");
}

}  // namespace
}  // namespace lacuna
