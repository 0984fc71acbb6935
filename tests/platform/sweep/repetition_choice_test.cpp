#include "platform/sweep/repetition_choice.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using State = CombinationChoice::State;

TEST(SampleOrder, HasEachNumberOnce) {
  EXPECT_TRUE(sample_order(0).empty());
  EXPECT_THAT(sample_order(1), ElementsAre(0));
  for (std::size_t count = 1; count < 70; ++count) {
    const std::vector<std::size_t> order = sample_order(count);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), count);
    EXPECT_EQ(*std::max_element(order.begin(), order.end()), count - 1);
    EXPECT_EQ(sample_order(count), order);
  }
}

// The first eighth of many start times contains each remainder modulo a period about equally often, so that no phase of a
// periodic effect is over-represented.
TEST(SampleOrder, HasNoPeriod) {
  const std::vector<std::size_t> order = sample_order(8192);
  for (const std::size_t period : {2U, 3U, 4U, 8U, 16U, 64U}) {
    std::vector<double> counts(period);
    for (std::size_t i = 0; i < 1024; ++i) ++counts[order[i] % period];
    double chi_squared = 0;
    for (const double count : counts)
      chi_squared += (count - 1024.0 / static_cast<double>(period)) * (count - 1024.0 / static_cast<double>(period)) /
                     (1024.0 / static_cast<double>(period));
    EXPECT_LT(chi_squared, static_cast<double>(period) + 4 * std::sqrt(2.0 * static_cast<double>(period))) << period;
  }
}

/// Sweeps whose points are not run: the test sets the cycles of each point.
class Repetitions : public ::testing::Test {
 protected:
  /// Returns the cycles of a repetition of a combination; nullopt: the repetition fails.
  using Cycles = std::function<std::optional<double>(const std::string& n, int start)>;

  void SetUp() override {
    started_in_ = fs::current_path();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Elf64_Ehdr header{};
    std::copy_n(ELFMAG, SELFMAG, header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_RISCV;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    std::ofstream(folder_ / "a.elf", std::ios::binary).write(reinterpret_cast<const char*>(&header), sizeof header);
  }
  void TearDown() override {
    fs::current_path(started_in_);
    fs::remove_all(folder_);
  }

  /// One combination for each n, with 64 starts, of which 8 are run first unless `until` specifies another number.
  std::unique_ptr<SweepPlan> plan(const std::string& until, const std::string& n = "1", const std::string& metric = "") const {
    std::istringstream text("[sweep]\ncommand = run\nprogram = a.elf\nargument = {n}\n[axes]\nn = " + n +
                            "\n[repeat]\ngpu.start_phase = 0cycles..63cycles\n" + until +
                            (until.empty() || until.starts_with("least") ? "\n" : "\nleast = 8\n") + metric);
    return std::make_unique<SweepPlan>(parse_sweep_text(text, folder_ / "some.sweep"), 1);
  }

  static std::string n_of(const SweepPlan& plan, std::size_t point) { return plan.points()[point].point.axes.front().second; }
  static int start_of(const SweepPlan& plan, std::size_t point) {
    return std::stoi(plan.points()[point].point.repeats.front().second);
  }

  /// `half_width`: half-width of the cycles' interval; 0: the cycles are exact.
  static void store(ResultsDatabase& database, const SweepPlan& plan, std::size_t point, const Cycles& cycles,
                    double half_width = 0) {
    PointRecord record;
    record.key = plan.points()[point].prepared.key;
    record.date = date_now();
    if (const auto value = cycles(n_of(plan, point), start_of(plan, point))) {
      record.state = PointState::done;
      record.results.statistics.push_back({"kernels.k.cycles", "cycles", *value});
      record.results.statistics.push_back({"kernels.k.half_width_cycles", "cycles", half_width});
    }
    database.add(record);
  }

  /// Runs points as the sweep does, in any order within a round. Returns the number of points run.
  static std::size_t run(SweepPlan& plan, ResultsDatabase& database, const Cycles& cycles, unsigned order = 0,
                         double half_width = 0) {
    std::mt19937 random(order);
    std::size_t count = 0;
    for (plan.look_up(&database);; plan.look_up(&database)) {
      std::vector<std::size_t> to_run = plan.to_run(false);
      if (to_run.empty()) return count;
      std::shuffle(to_run.begin(), to_run.end(), random);
      for (const std::size_t point : to_run) store(database, plan, point, cycles, half_width);
      count += to_run.size();
    }
  }

  static std::vector<bool> wanted(const SweepPlan& plan) {
    std::vector<bool> flags;
    for (const PlannedPoint& point : plan.points()) flags.push_back(point.wanted);
    return flags;
  }

  std::unique_ptr<ResultsDatabase> database(const std::string& name = "results.db") const {
    return std::make_unique<ResultsDatabase>(folder_ / name, false);
  }

  /// Cycles with uniform noise of +-0.5 % times n, so the spread grows with n.
  static std::optional<double> noisy(const std::string& n, int start) {
    const double size = std::stod(n);
    std::mt19937 random(static_cast<unsigned>(100 * size) + static_cast<unsigned>(start));
    return 1000 + size * 10 * (static_cast<double>(random() % 1000) / 1000 - 0.5);
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "lacuna_repetitions";
  fs::path started_in_;
};

TEST_F(Repetitions, WithoutUntilAllAreRun) {
  const auto sweep = plan("");
  EXPECT_EQ(sweep->choice(), nullptr);
  EXPECT_EQ(sweep->wanted(), 64U);
}

TEST_F(Repetitions, EndWhenTheIntervalIsReached) {
  const auto sweep = plan("until = 1 %", "1, 5, 12");
  const auto results = database();
  EXPECT_EQ(sweep->wanted(), 24U) << "eight of each before anything is known";
  run(*sweep, *results, noisy);
  const auto& combinations = sweep->choice()->combinations();
  ASSERT_EQ(combinations.size(), 3U);
  EXPECT_EQ(combinations[0].chosen, 8U) << "it spreads by less";
  EXPECT_GT(combinations[2].chosen, 8U);
  EXPECT_LT(combinations[2].chosen, 64U);
  for (const CombinationChoice& combination : combinations) {
    EXPECT_EQ(combination.state, State::reached);
    EXPECT_TRUE(combination.spreads.front().is_within(0.01));
    EXPECT_EQ(combination.spreads.front().samples, combination.chosen);
  }
  EXPECT_TRUE(sweep->choice()->shortcomings().empty());
  EXPECT_EQ(sweep->wanted(), combinations[0].chosen + combinations[1].chosen + combinations[2].chosen);
  // All combinations have the same start times, so that the speedup of each start time can be computed.
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(start_of(*sweep, combinations[0].points[i]), start_of(*sweep, combinations[2].points[i]));
}

TEST_F(Repetitions, DependOnResultsAlone) {
  const auto sweep = plan("until = 0.5 %", "1, 5, 12, 20");
  const auto first = database("first.db");
  const std::size_t count = run(*sweep, *first, noisy);
  const std::vector<bool> chosen = wanted(*sweep);
  for (unsigned order = 1; order < 4; ++order) {
    const auto again = plan("until = 0.5 %", "1, 5, 12, 20");
    const auto other = database("other" + std::to_string(order) + ".db");
    EXPECT_EQ(run(*again, *other, noisy, order), count);
    EXPECT_EQ(wanted(*again), chosen);
  }
  // A sweep that is started again chooses the same repetitions, whether it was complete or interrupted.
  const auto resumed = plan("until = 0.5 %", "1, 5, 12, 20");
  EXPECT_EQ(run(*resumed, *first, noisy), 0U);
  EXPECT_EQ(wanted(*resumed), chosen);
  const auto half = database("half.db");
  std::size_t before = 0;
  for (std::size_t point = 0; point < sweep->points().size() && before < count / 2; ++point)
    if (chosen[point]) store(*half, *sweep, point, noisy), ++before;
  const auto rest = plan("until = 0.5 %", "1, 5, 12, 20");
  EXPECT_EQ(run(*rest, *half, noisy), count - before);
  EXPECT_EQ(wanted(*rest), chosen);
  // Existing results of a sweep with more repetitions do not change the choice.
  const auto all = database("all.db");
  for (std::size_t point = 0; point < sweep->points().size(); ++point) store(*all, *sweep, point, noisy);
  const auto few = plan("until = 0.5 %", "1, 5, 12, 20");
  EXPECT_EQ(run(*few, *all, noisy), 0U);
  EXPECT_EQ(wanted(*few), chosen);
}

TEST_F(Repetitions, ThatAreNotEnoughAreNamedWithTheirInterval) {
  const auto sweep = plan("least = 4\nuntil = 1 %", "3");
  const auto results = database();
  const auto two_values = [](const std::string&, int start) { return start % 2 == 0 ? 900.0 : 1100.0; };
  EXPECT_EQ(run(*sweep, *results, two_values), 64U);
  const auto& combination = sweep->choice()->combinations().front();
  EXPECT_EQ(combination.state, State::exhausted);
  EXPECT_THAT(
      sweep->choice()->shortcomings(),
      ElementsAre("n=3: cycles 1,000 ± 2.5 % after 64 repetitions, which is all that [repeat] has; 1 % needs about 393"));
}

TEST_F(Repetitions, MoreAreRunForEstimatesThanForExactValues) {
  const auto exact = plan("until = 1 %", "5");
  const auto estimated = plan("until = 1 %", "5");
  const auto exact_results = database("exact.db");
  const auto estimates = database("estimates.db");
  const std::size_t count = run(*exact, *exact_results, noisy);
  EXPECT_GT(run(*estimated, *estimates, noisy, 0, 8), count);
  EXPECT_EQ(estimated->choice()->combinations().front().state, State::reached);
  EXPECT_EQ(estimated->choice()->combinations().front().spreads.front().own_half_width(), 8);
}

TEST_F(Repetitions, DoNotNarrowSampledTiming) {
  const auto sweep = plan("until = 1 %", "1");
  const auto results = database();
  const auto steady = [](const std::string&, int) { return 1000.0; };
  EXPECT_EQ(run(*sweep, *results, steady, 0, 25), 8U) << "more repetitions would not help";
  EXPECT_EQ(sweep->choice()->combinations().front().state, State::sampled);
  EXPECT_THAT(sweep->choice()->shortcomings(),
              ElementsAre("n=1: cycles 1,000 ± 2.5 % sampled after 8 repetitions; sampled timing alone has ± 2.5 %, which "
                          "repetitions do not make narrower: set a smaller sampling.error, or gpu.timing = loose"));
}

// If a repetition fails, no further repetitions are added: it would fail again, and the other repetitions do not represent it.
TEST_F(Repetitions, AreNotGoneOnWithWhenOneFails) {
  const auto sweep = plan("until = 1 %", "12, 13");
  const auto results = database();
  const auto fails = [](const std::string& n, int start) {
    return n == "12" && start == static_cast<int>(sample_order(64)[3]) ? std::nullopt : noisy(n, start);
  };
  run(*sweep, *results, fails);
  const auto& combinations = sweep->choice()->combinations();
  EXPECT_EQ(combinations[0].state, State::stuck);
  EXPECT_EQ(combinations[0].chosen, 8U);
  EXPECT_EQ(combinations[1].state, State::reached);
  EXPECT_GT(combinations[1].chosen, 8U);
  EXPECT_THAT(sweep->choice()->shortcomings(),
              ElementsAre("n=12: 1 of 8 repetitions is not done, which is unrelated to the interval"));
  // The failed repetition succeeds at the second attempt.
  const auto retried = plan("until = 1 %", "12, 13");
  retried->look_up(results.get());
  const std::vector<std::size_t> failed = retried->to_run(true);
  ASSERT_EQ(failed.size(), 1U);
  store(*results, *retried, failed.front(), noisy);
  run(*retried, *results, noisy);
  EXPECT_EQ(retried->choice()->combinations()[0].state, State::reached);
}

TEST_F(Repetitions, EndWithAReasonIfAMetricIsMissing) {
  const auto sweep =
      plan("until = 1 % of time, misses", "1", "[metrics]\ntime = run.simulated_ps\nmisses = kernels.*.cycles\n");
  const auto results = database();
  EXPECT_EQ(run(*sweep, *results, noisy), 8U);
  EXPECT_THAT(sweep->choice()->shortcomings(),
              ElementsAre("n=1: 8 of 8 repetitions have no time, which is unrelated to the interval"));
}

// The speedup of a repetition is relative to the same repetition of the baseline, which must be run as well.
TEST_F(Repetitions, TheReferenceOfARepetitionIsRunAsWell) {
  const auto sweep =
      plan("until = 1 % of speedup", "1, 10", "[metrics]\nspeedup = {kernels.*.cycles @ n=1} / {kernels.*.cycles}\n");
  const auto results = database();
  run(*sweep, *results, noisy);
  const auto& combinations = sweep->choice()->combinations();
  EXPECT_EQ(combinations[0].state, State::reached);
  EXPECT_EQ(combinations[0].chosen, 8U) << "its own speedup is 1";
  EXPECT_EQ(combinations[1].state, State::reached);
  const std::size_t more = combinations[1].chosen;
  EXPECT_GT(more, 8U);
  EXPECT_EQ(sweep->wanted(), 2 * more);
  sweep->register_in(*results);
  const auto groups = load_points(*results, {"some", {}}, sweep->metrics(), {});
  EXPECT_EQ(groups[0].points.size(), more);
  EXPECT_EQ(groups[1].values[0].samples, more);
}

}  // namespace
}  // namespace lacuna
