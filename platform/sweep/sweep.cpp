#include "platform/sweep/sweep.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <set>

#include "models/common/host/worker_threads.h"
#include "platform/run/output_file.h"
#include "platform/run/text_table.h"
#include "platform/sweep/axis_files.h"
#include "platform/sweep/point_failure.h"
#include "platform/sweep/repetition_choice.h"
#include "platform/sweep/results_report.h"
#include "platform/sweep/slurm_sweep.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/sweep_plan.h"
#include "platform/sweep/sweep_progress.h"
#include "platform/sweep/work_folder.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultDatabase = "lacuna-results.db";
/// Maximum number of lines of the table that a sweep prints; `lacuna results` prints longer tables.
constexpr std::size_t kMostLines = 60;
/// Maximum number of combinations that are listed individually because their interval is too wide.
constexpr std::size_t kMostNamed = 10;

/// Path of the database. --db and the default are relative to the folder where lacuna was started; `database` of the sweep file
/// is relative to that file's folder.
fs::path database_of(const SweepOptions& options, const fs::path& started_in, const SweepPlan& plan) {
  if (options.database) return started_in / *options.database;
  return plan.file().database ? plan.folder() / *plan.file().database : started_in / kDefaultDatabase;
}

void list_points(SweepPlan& plan, bool retry, std::ostream& out) {
  const std::vector<std::size_t> to_run = plan.to_run(retry);
  std::vector<TextRow> rows{{"point"}};
  for (const auto& [name, value] : plan.points().front().point.values()) rows.front().push_back(name);
  rows.front().emplace_back("state");
  std::map<std::string, std::size_t> runs;
  for (const std::size_t index : to_run) runs.emplace(plan.points()[index].prepared.key, index);
  for (std::size_t i = 0; i < plan.points().size(); ++i) {
    const PlannedPoint& planned = plan.points()[i];
    TextRow& row = rows.emplace_back();
    row.push_back(std::to_string(planned.point.number));
    for (const auto& [name, value] : planned.point.values()) row.push_back(value);
    const auto run = runs.find(planned.prepared.key);
    std::string state = "to run";
    if (!planned.wanted) {
      state = "only if the interval needs it";
    } else if (run == runs.end()) {
      state = state_name(*planned.state);
      if (*planned.state != PointState::done) state += ", kept (--retry)";
    } else if (run->second != i) {
      state = "the same as point " + std::to_string(plan.points()[run->second].point.number);
    } else if (!planned.stale.empty()) {
      state = "stale, to run: another " + planned.stale;
    }
    row.push_back(std::move(state));
  }
  write_aligned(rows, out);
  out << plan.points().size() << " points, " << to_run.size() << " to run";
  if (const std::size_t wanted = plan.wanted(); wanted != plan.points().size())
    out << ", " << plan.points().size() - wanted << " only if the interval needs them";
  out << '\n';
  if (!to_run.empty()) out << "the first one: " << plan.command(plan.points()[to_run.front()]) << '\n';
}

/// Runs points on this machine. Returns true when all of them have been run.
bool run_here(SweepPlan& plan, const std::vector<std::size_t>& to_run, unsigned jobs, ResultsDatabase& database,
              SweepProgress& progress) {
  const WorkFolder work(database.file().string() + ".work");
  PointRunner runner(
      {plan.simulator(), plan.folder(), work.path(), jobs, plan.file().timeout_seconds, plan.file().grace_seconds});
  std::vector<PointTask> tasks;
  tasks.reserve(to_run.size());
  for (const std::size_t index : to_run) {
    const PreparedPoint& prepared = plan.points()[index].prepared;
    tasks.push_back({index, prepared.key, prepared.words, prepared.environment});
  }
  std::size_t next = 0;
  std::string changed;
  PointRunner::Observer observer;
  observer.next = [&]() -> const PointTask* {
    // Another sweep may have run this point in the meantime.
    while (next < tasks.size() && database.state(tasks[next].key) == PointState::done) {
      progress.ended_elsewhere();
      ++next;
    }
    return next < tasks.size() ? &tasks[next++] : nullptr;
  };
  observer.ended = [&](const PointTask& task, const RunResult& result, const fs::path& folder) {
    changed = plan.changed_file();
    if (!changed.empty()) return false;
    const PlannedPoint& planned = plan.points()[task.index];
    if (result.state == PointState::failed) require_writable(result, folder);
    const PointRecord record = record_of(task.key, planned.prepared.inputs, plan.command(planned), result, folder);
    database.add(record);
    std::error_code status;
    fs::remove_all(folder, status);
    progress.ended(planned.name(), record);
    return true;
  };
  observer.progress = [&](std::size_t running) { progress.show(running); };
  observer.ending = [&](std::size_t running) {
    progress.tell(std::to_string(running) + (running == 1 ? " point that runs is" : " points that run are") +
                  " being ended; Ctrl-C again kills " + (running == 1 ? "it" : "them"));
  };
  const bool finished = runner.run(observer);
  if (!changed.empty())
    throw SweepError(
        changed + " has changed while the sweep was running: " + std::to_string(progress.expected() - progress.count()) +
        " points that are not done are stale, and what was running is dropped; the same command runs them with the "
        "new one");
  return finished;
}

/// Runs the wanted points. With `until`, further rounds follow as long as the intervals of results require more repetitions.
/// Returns false when interrupted.
bool run_rounds(SweepPlan& plan, bool retry, ResultsDatabase& database, SweepProgress& progress,
                const std::function<bool(const std::vector<std::size_t>& to_run)>& run) {
  std::set<std::string> tried;  // keys of points that were run; failed points are not repeated
  for (;;) {
    plan.register_in(database);
    std::vector<std::size_t> to_run = plan.to_run(retry);
    std::erase_if(to_run, [&](std::size_t index) { return !tried.insert(plan.points()[index].prepared.key).second; });
    // The first round runs even without points to run, because jobs of a batch system may be waiting to be collected.
    if (to_run.empty() && !tried.empty()) return true;
    progress.expect(to_run.size());
    const bool finished = run(to_run);
    plan.look_up(&database);
    if (!finished || to_run.empty()) return finished;
  }
}

/// Reports the combinations whose interval is unknown or wider than `until` allows. Returns true when there are none.
bool tell_of_intervals(const SweepPlan& plan) {
  if (plan.choice() == nullptr) return true;
  const std::vector<std::string> shortcomings = plan.choice()->shortcomings();
  const SweepKey& until = plan.file().until->key;
  for (std::size_t i = 0; i < shortcomings.size() && i < kMostNamed; ++i)
    std::cerr << "lacuna: sweep: " << until.place.text() << "until = " << until.value << ": " << shortcomings[i] << '\n';
  if (shortcomings.size() > kMostNamed)
    std::cerr << "lacuna: sweep: " << shortcomings.size() - kMostNamed << " more combinations of axes have a wider interval\n";
  return shortcomings.empty();
}

void write_results(ResultsDatabase& database, const SweepPlan& plan, std::ostream& out) {
  std::vector<ReportedMetric> metrics;
  for (const Metric& metric : plan.metrics()) metrics.push_back({metric, unit_of(database, metric)});
  const std::vector<PointGroup> groups = load_points(database, {plan.file().name, {}}, plan.metrics(), {});
  WantedInterval wanted;
  if (plan.file().until) wanted.share = plan.file().until->share;
  if (groups.size() > kMostLines) {
    out << "lacuna results " << plan.file().name << " --db " << database.file().string() << " prints the " << groups.size()
        << " combinations\n";
  } else {
    write_groups(groups, metrics, wanted, out);
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const auto without = std::count_if(groups.begin(), groups.end(), [&](const PointGroup& group) {
      return group.done() != 0 && group.values[m].samples == 0;
    });
    if (without != 0)
      std::cerr << "lacuna: sweep: " << metrics[m].metric.name << " = " << metrics[m].metric.text << ": " << without << " of "
                << groups.size() << " combinations have no such statistic\n";
  }
}

}  // namespace

int sweep(const CommandLine& line) {
  const SweepOptions& options = line.sweep;
  if (options.task) return run_slurm_task(*options.task);
  const unsigned processors = usable_processors();
  const unsigned jobs = options.jobs == 0 ? processors : options.jobs;
  const fs::path started_in = fs::current_path();
  SweepFile file = parse_sweep_file(line.input);
  if (options.overnight && !file.overnight)
    throw SweepError(file.file.string() + ": --overnight: no points are marked for a night (overnight = CONDITION in [sweep])");
  file.overnight_only = options.overnight;
  if (options.files) take_files_from(*options.files, file);
  const SlurmSettings slurm = slurm_settings(file, options.slurm);
  SweepPlan plan(std::move(file), options.on_slurm ? slurm.cpus : std::max(1U, processors / jobs));
  const fs::path database_file = database_of(options, started_in, plan);
  if (options.dry_run) {
    std::error_code status;
    if (fs::exists(database_file, status)) {
      ResultsDatabase database(database_file, true);
      plan.look_up(&database);
    }
    list_points(plan, options.retry, std::cout);
    return 0;
  }
  ResultsDatabase database(database_file, false);
  plan.look_up(&database);
  if (const std::string stale = plan.stale_summary(); !stale.empty()) std::cerr << "lacuna: sweep: " << stale;
  SweepProgress progress(!line.quiet, plan.metrics());
  bool finished = false;
  try {
    finished = run_rounds(plan, options.retry, database, progress, [&](const std::vector<std::size_t>& to_run) {
      return options.on_slurm ? run_on_slurm(plan, to_run, slurm, options.wait, database, progress)
                              : run_here(plan, to_run, jobs, database, progress);
    });
  } catch (const WriteError& e) {
    progress.hide();
    throw WriteError(std::string(e.what()) + "; " + std::to_string(progress.count()) + " of " +
                     std::to_string(progress.expected()) + " points have been stored, the same command runs the others");
  }
  progress.hide();

  const auto in_state = [&](std::optional<PointState> state) {
    return std::count_if(plan.points().begin(), plan.points().end(),
                         [&](const PlannedPoint& planned) { return planned.wanted && planned.state == state; });
  };
  const auto all = static_cast<std::ptrdiff_t>(plan.wanted());
  const auto done = in_state(PointState::done);
  const auto timeouts = in_state(PointState::timeout);
  const auto killed = in_state(PointState::killed);
  std::string spare;
  if (const std::size_t more = plan.points().size() - plan.wanted(); more != 0)
    spare = std::to_string(more) + (more == 1 ? " more is" : " more are") + " not needed; ";
  if (!line.quiet) {
    write_results(database, plan, std::cout);
    std::cerr << "lacuna: sweep: " << all << " points: " << done << " done (" << progress.count() << " run now), "
              << in_state(PointState::failed) << " failed, ";
    if (timeouts != 0) std::cerr << timeouts << " timed out, ";
    if (killed != 0) std::cerr << killed << " killed, ";
    std::cerr << in_state(std::nullopt) << " not run; " << spare << database_file.string() << '\n';
  }
  if (!finished) return kExitInterrupted;
  const bool within = tell_of_intervals(plan);
  return done == all && within ? 0 : kExitSomeFailed;
}

}  // namespace lacuna
