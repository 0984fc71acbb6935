#include "platform/sweep/slurm_sweep.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <list>
#include <map>
#include <set>
#include <thread>

#include "models/common/config/nearest_name.h"
#include "platform/sweep/digest.h"
#include "platform/sweep/point_failure.h"
#include "platform/sweep/slurm_batch.h"
#include "platform/sweep/slurm_files.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Minimum interval for polling Slurm; the interval grows while no job ends.
constexpr milliseconds kShortestPoll{500};
constexpr milliseconds kLongestPoll{10'000};
/// A batch's jobs count as ended after this number of consecutive polls in which squeue lists none of them: more than one poll,
/// because their last files may become visible late.
constexpr unsigned kMissedPolls = 2;

unsigned whole_number(const std::string& place, const std::string& name, const std::string& text, unsigned least) {
  unsigned number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || number < least)
    throw SweepError(place + name + " = " + text + ": must be a whole number, at least " + std::to_string(least));
  return number;
}

void apply(SlurmSettings& settings, const std::string& place, const std::string& name, const std::string& value) {
  const std::map<std::string, std::string> options{
      {"partition", "--partition="},   {"time", "--time="}, {"memory", "--mem="}, {"account", "--account="}, {"qos", "--qos="},
      {"constraint", "--constraint="}, {"option", ""}};
  if (const auto option = options.find(name); option != options.end()) {
    settings.sbatch_options.push_back(option->second + value);
  } else if (name == "cpus") {
    settings.cpus = whole_number(place, name, value, 1);
  } else if (name == "points_per_task") {
    settings.points_per_task = whole_number(place, name, value, 1);
  } else if (name == "tasks_at_once") {
    settings.tasks_at_once = whole_number(place, name, value, 0);
  } else if (name == "array_size") {
    settings.array_size = whole_number(place, name, value, 1);
  } else {
    std::vector<std::string> names{"cpus", "points_per_task", "tasks_at_once", "array_size"};
    for (const auto& [known, prefix] : options) names.push_back(known);
    throw SweepError(place + "unknown key " + name + did_you_mean(nearest_name(names, name)));
  }
}

volatile std::sig_atomic_t interrupted = 0;

/// Handles Ctrl-C and SIGTERM: they end the waiting, but not the jobs.
class Interruption {
 public:
  Interruption() {
    interrupted = 0;
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { interrupted = 1; });
  }
  ~Interruption() {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool wait(milliseconds time) {
    constexpr milliseconds kStep{100};
    for (milliseconds waited{0}; waited < time && interrupted == 0; waited += kStep) std::this_thread::sleep_for(kStep);
    return interrupted == 0;
  }
};

class Collector {
 public:
  Collector(SweepPlan& plan, const std::vector<std::size_t>& to_run, const SlurmSettings& settings, ResultsDatabase& database,
            SweepProgress& progress)
      : plan_(plan),
        to_run_(to_run),
        settings_(settings),
        database_(database),
        progress_(progress),
        parent_(database.file().string() + ".work") {
    for (const std::size_t index : to_run) wanted_.insert(plan.points()[index].prepared.key);
  }

  /// Opens batches left by sweeps that ended before their jobs.
  void take_up() {
    std::error_code status;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(parent_, status))
      if (entry.path().filename().string().starts_with(kBatchPrefix)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders)
      if (auto batch = SlurmBatch::open(folder)) batches_.push_back({std::move(*batch), 0});
    if (!batches_.empty()) collect();
  }

  /// Submits the points that have not been run and are in no batch.
  void submit() {
    std::set<std::string> taken = ended_;
    for (const Held& held : batches_) taken.merge(held.batch.open_keys());
    std::vector<std::size_t> left;
    for (const std::size_t index : to_run_)
      if (!taken.contains(plan_.points()[index].prepared.key)) left.push_back(index);
    const std::size_t most = std::size_t{settings_.array_size} * settings_.points_per_task;
    for (std::size_t begin = 0; begin < left.size(); begin += most) {
      const std::size_t end = std::min(left.size(), begin + most);
      SlurmBatch batch = SlurmBatch::create(
          parent_, plan_, {left.begin() + static_cast<std::ptrdiff_t>(begin), left.begin() + static_cast<std::ptrdiff_t>(end)},
          settings_.points_per_task);
      batch.submit(settings_);
      progress_.tell("job " + batch.job() + ": " + std::to_string(end - begin) + " points");
      batches_.push_back({std::move(batch), 0});
    }
  }

  /// Stores the points that have ended. Returns true if there were any, or if one of the batches has no jobs left.
  bool collect() {
    bool any = false;
    for (Held& held : batches_) {
      any = put_away(held, held.batch.ended()) || any;
      if (held.batch.empty()) continue;
      const std::optional<bool> active = held.batch.active();
      if (!active && !told_of_silence_) {
        told_of_silence_ = true;
        progress_.tell("squeue does not answer; the sweep waits until it does");
      }
      if (active) told_of_silence_ = false;
      held.missed = active && !*active ? held.missed + 1 : 0;
      if (held.missed < kMissedPolls) continue;
      // Check again, since results may have been written after the first check.
      put_away(held, held.batch.ended());
      put_away(held, held.batch.lost());
      any = true;
    }
    for (Held& held : batches_)
      if (held.batch.empty()) held.batch.remove();
    std::erase_if(batches_, [](const Held& held) { return held.batch.empty(); });
    return any;
  }

  bool all_ended() const {
    return batches_.empty() && std::includes(ended_.begin(), ended_.end(), wanted_.begin(), wanted_.end());
  }
  bool has_batches() const { return !batches_.empty(); }

  std::size_t running() const {
    std::size_t count = 0;
    for (const Held& held : batches_) count += held.batch.running();
    return count;
  }

  std::string job_names() const {
    std::string names;
    for (const Held& held : batches_) add_to_list(names, held.batch.job_name(), ",");
    return names;
  }

 private:
  struct Held {
    SlurmBatch batch;
    unsigned missed;  ///< consecutive polls in which squeue listed no job of the batch
  };

  bool put_away(Held& held, const std::vector<SlurmBatch::Ended>& ended) {
    for (const SlurmBatch::Ended& point : ended) {
      database_.add(point.record);
      held.batch.put_away(point.index);
      if (!wanted_.contains(point.record.key)) continue;
      if (ended_.insert(point.record.key).second) progress_.ended(point.name, point.record);
    }
    return !ended.empty();
  }

  SweepPlan& plan_;
  const std::vector<std::size_t>& to_run_;
  const SlurmSettings& settings_;
  ResultsDatabase& database_;
  SweepProgress& progress_;
  const fs::path parent_;
  std::set<std::string> wanted_;
  std::set<std::string> ended_;
  std::list<Held> batches_;
  bool told_of_silence_ = false;
};

}  // namespace

SlurmSettings slurm_settings(const SweepFile& sweep, const std::vector<std::pair<std::string, std::string>>& options) {
  SlurmSettings settings;
  for (const SweepKey& key : sweep.slurm) apply(settings, key.place.text(), key.name, key.value);
  for (const auto& [name, value] : options) apply(settings, "--slurm " + name + '=' + value + ": ", name, value);
  return settings;
}

bool run_on_slurm(SweepPlan& plan, const std::vector<std::size_t>& to_run, const SlurmSettings& settings, bool wait,
                  ResultsDatabase& database, SweepProgress& progress) {
  Collector collector(plan, to_run, settings, database, progress);
  collector.take_up();
  collector.submit();
  if (!wait) return true;
  const Interruption interruption;
  milliseconds poll = kShortestPoll;
  while (collector.has_batches()) {
    progress.show(collector.running());
    if (!Interruption::wait(poll)) {
      progress.tell("the jobs continue, and the same command collects their results; scancel --name=" + collector.job_names() +
                    " ends them");
      return false;
    }
    poll = collector.collect() ? kShortestPoll : std::min(kLongestPoll, poll + poll / 4);
    // Submit points that an ended job had not started.
    collector.submit();
  }
  return collector.all_ended();
}

int run_slurm_task(const std::string& folder) {
  const BatchFile batch = read_batch(folder);
  const char* const number = std::getenv("SLURM_ARRAY_TASK_ID");
  if (number == nullptr) throw SweepError("--task is for the jobs of an array: SLURM_ARRAY_TASK_ID is not set");
  const std::size_t task = whole_number("SLURM_ARRAY_TASK_ID: ", "task", number, 0);
  for (const auto& [file, digest] : batch.files) {
    // Compare the same digest as RunBuilder: for a program, only the loaded segments.
    const bool program = digest.starts_with("program:");
    if (program ? digest != "program:" + program_digest(file) : digest != file_digest(file))
      throw SweepError(file + " has changed since the sweep was submitted");
  }
  std::vector<PointTask> tasks;
  const std::size_t begin = task * batch.points_per_task;
  for (std::size_t i = begin; i < std::min(batch.points.size(), begin + batch.points_per_task); ++i)
    // A requeued job continues after its last finished point.
    if (!read_result(fs::path(folder) / kBatchPoints / std::to_string(i))) tasks.push_back(batch.points[i].task);
  std::size_t next = 0;
  PointRunner runner(
      {batch.simulator, batch.run_in, fs::path(folder) / kBatchPoints, 1, batch.timeout_seconds, batch.grace_seconds});
  PointRunner::Observer observer;
  observer.next = [&]() -> const PointTask* { return next < tasks.size() ? &tasks[next++] : nullptr; };
  observer.ended = [&](const PointTask&, const RunResult& result, const fs::path& place) {
    if (result.state == PointState::failed) require_writable(result, place);
    write_result(place, result);
    return true;
  };
  observer.progress = [](std::size_t) {};
  return runner.run(observer) ? 0 : kExitInterrupted;
}

}  // namespace lacuna
