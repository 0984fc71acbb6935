#include "platform/sweep/sweep.h"

#include <algorithm>
#include <iostream>

#include "models/common/worker_threads.h"
#include "platform/run/output_file.h"
#include "platform/run/text_table.h"
#include "platform/sweep/point_failure.h"
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
/// Longer tables are for `lacuna results`.
constexpr std::size_t kMostLines = 60;

/// --db and the default are relative to where the user is, the file's own to the file.
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
    if (run == runs.end()) {
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
  out << plan.points().size() << " points, " << to_run.size() << " to run\n";
  if (!to_run.empty()) out << "the first one: " << plan.command(plan.points()[to_run.front()]) << '\n';
}

/// Runs points here. True: all of them have been run.
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
    // Another sweep may have run it meanwhile.
    while (next < tasks.size() && database.state(tasks[next].key) == PointState::done) {
      progress.ended_elsewhere();
      ++next;
    }
    return next < tasks.size() ? &tasks[next++] : nullptr;
  };
  observer.ended = [&](const PointTask& task, const PointEnd& end, const fs::path& folder) {
    changed = plan.changed_file();
    if (!changed.empty()) return false;
    const PlannedPoint& planned = plan.points()[task.index];
    if (end.state == PointState::failed) require_writable(end, folder);
    const PointRecord record = record_of(task.key, planned.prepared.inputs, plan.command(planned), end, folder);
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
        changed + " has changed while the sweep was running: " + std::to_string(to_run.size() - progress.count()) +
        " points that are not done are stale, and what was running is dropped; the same command runs them with the "
        "new one");
  return finished;
}

void write_results(ResultsDatabase& database, const SweepPlan& plan, std::ostream& out) {
  std::vector<ReportedTake> takes;
  for (const Take& take : plan.takes()) takes.push_back({take, unit_of(database, take)});
  const std::vector<PointGroup> groups = load_points(database, {plan.file().name, {}}, plan.takes(), {});
  if (groups.size() > kMostLines) {
    out << "lacuna results " << plan.file().name << " --db " << database.file().string() << " prints the " << groups.size()
        << " combinations\n";
  } else {
    write_groups(groups, takes, out);
  }
  for (std::size_t t = 0; t < takes.size(); ++t) {
    const auto without = std::count_if(groups.begin(), groups.end(), [&](const PointGroup& group) {
      return group.done() != 0 && group.values[t].samples == 0;
    });
    if (without != 0)
      std::cerr << "lacuna: sweep: " << takes[t].take.name << " = " << takes[t].take.text << ": " << without << " of "
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
  const SlurmSettings slurm = slurm_settings(file, options.slurm);
  SweepPlan plan(std::move(file), options.on_slurm ? slurm.cpus : std::max(1U, processors / jobs));
  const fs::path database_file = database_of(options, started_in, plan);
  if (options.dry_run) {
    std::error_code status;
    if (fs::exists(database_file, status)) {
      ResultsDatabase database(database_file, true);
      plan.look_up(database);
    }
    list_points(plan, options.retry, std::cout);
    return 0;
  }
  ResultsDatabase database(database_file, false);
  plan.look_up(database);
  if (const std::string stale = plan.stale_summary(); !stale.empty()) std::cerr << "lacuna: sweep: " << stale;
  plan.register_in(database);
  const std::vector<std::size_t> to_run = plan.to_run(options.retry);
  SweepProgress progress(to_run.size(), !line.quiet);
  bool finished = false;
  try {
    finished = options.on_slurm ? run_on_slurm(plan, to_run, slurm, options.wait, database, progress)
                                : run_here(plan, to_run, jobs, database, progress);
  } catch (const WriteError& e) {
    progress.hide();
    throw WriteError(std::string(e.what()) + "; " + std::to_string(progress.count()) + " of " + std::to_string(to_run.size()) +
                     " points have been stored, the same command runs the others");
  }
  progress.hide();

  plan.look_up(database);
  const auto in_state = [&](std::optional<PointState> state) {
    return std::count_if(plan.points().begin(), plan.points().end(),
                         [&](const PlannedPoint& planned) { return planned.state == state; });
  };
  const auto all = static_cast<std::ptrdiff_t>(plan.points().size());
  const auto done = in_state(PointState::done);
  const auto timeouts = in_state(PointState::timeout);
  const auto killed = in_state(PointState::killed);
  if (!line.quiet) {
    write_results(database, plan, std::cout);
    std::cerr << "lacuna: sweep: " << all << " points: " << done << " done (" << progress.count() << " run now), "
              << in_state(PointState::failed) << " failed, ";
    if (timeouts != 0) std::cerr << timeouts << " timed out, ";
    if (killed != 0) std::cerr << killed << " killed, ";
    std::cerr << in_state(std::nullopt) << " not run; " << database_file.string() << '\n';
  }
  if (!finished) return kExitInterrupted;
  return done == all ? 0 : kExitSomeFailed;
}

}  // namespace lacuna
