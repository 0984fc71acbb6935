#include "platform/sweep/slurm_batch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "platform/run/output_file.h"
#include "platform/sweep/program_output.h"
#include "platform/sweep/slurm_files.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

int lock_folder(const fs::path& folder) {
  const int lock = open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock >= 0) close(lock);
  return -1;
}

std::string quoted(const std::string& text) { return shell_command(text, {}, {}); }

}  // namespace

SlurmBatch SlurmBatch::create(const fs::path& parent, const SweepPlan& plan, const std::vector<std::size_t>& indices,
                              unsigned points_per_task) {
  std::error_code status;
  fs::create_directories(parent, status);
  fs::path folder;
  for (unsigned number = 1;; ++number) {
    std::string date = date_now();
    std::erase_if(date, [](char c) { return c == ':' || c == '-'; });
    folder = parent / (kBatchPrefix + date + '-' + std::to_string(getpid()) + '-' + std::to_string(number));
    if (fs::create_directory(folder, status)) break;
    if (status) throw WriteError(folder.string() + ": cannot be made: " + status.message());
  }
  SlurmBatch batch(folder);
  batch.lock_ = lock_folder(folder);
  batch.points_per_task_ = points_per_task;
  BatchFile file;
  file.run_in = plan.folder();
  file.simulator = plan.simulator();
  file.timeout_seconds = plan.file().timeout_seconds;
  file.grace_seconds = plan.file().grace_seconds;
  file.points_per_task = points_per_task;
  file.files = plan.entered_files();
  for (const std::size_t index : indices) {
    const PlannedPoint& planned = plan.points()[index];
    file.points.push_back({{file.points.size(), planned.prepared.key, planned.prepared.words, planned.prepared.environment},
                           planned.prepared.inputs,
                           planned.name(),
                           plan.command(planned)});
    batch.open_.insert(batch.open_.size());
  }
  write_file(folder / "job.sh", [&](std::ostream& out) {
    out << "#!/bin/sh\nexec " << quoted(file.simulator.string()) << " sweep --task " << quoted(folder.string()) << '\n';
  });
  write_batch(folder, file);
  batch.points_ = std::move(file.points);
  return batch;
}

std::optional<SlurmBatch> SlurmBatch::open(const fs::path& folder) {
  SlurmBatch batch(folder);
  batch.lock_ = lock_folder(folder);
  if (batch.lock_ < 0) return std::nullopt;
  std::error_code status;
  if (!fs::exists(folder / kBatchFile, status)) {
    fs::remove_all(folder, status);
    return std::nullopt;
  }
  BatchFile file = read_batch(folder);
  batch.points_per_task_ = file.points_per_task;
  batch.points_ = std::move(file.points);
  for (std::size_t i = 0; i < batch.points_.size(); ++i)
    if (!fs::exists(folder / kCollected / std::to_string(i), status)) batch.open_.insert(i);
  return batch;
}

SlurmBatch::SlurmBatch(SlurmBatch&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)),
      points_per_task_(other.points_per_task_),
      points_(std::move(other.points_)),
      open_(std::move(other.open_)),
      running_(other.running_) {}

SlurmBatch::~SlurmBatch() {
  if (lock_ >= 0) close(lock_);
}

fs::path SlurmBatch::point_folder(std::size_t index) const { return folder_ / kBatchPoints / std::to_string(index); }

void SlurmBatch::submit(const SlurmSettings& settings) {
  const std::size_t tasks = (points_.size() + points_per_task_ - 1) / points_per_task_;
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--job-name=" + job_name(),
                                 "--array=0-" + std::to_string(tasks - 1) +
                                     (settings.tasks_at_once == 0 ? "" : '%' + std::to_string(settings.tasks_at_once)),
                                 "--output=" + (folder_ / "task-%a.txt").string(),
                                 "--ntasks=1",
                                 "--cpus-per-task=" + std::to_string(settings.cpus)};
  words.insert(words.end(), settings.sbatch_options.begin(), settings.sbatch_options.end());
  words.push_back(folder_ / "job.sh");
  const ProgramOutput answer = run_program(words);
  if (answer.exit_code != 0) {
    remove();
    throw SweepError("sbatch ended with exit code " + std::to_string(answer.exit_code) + ": " + answer.errors + answer.output);
  }
  // The output of sbatch is "123" or "123;cluster".
  std::string job = answer.output.substr(0, answer.output.find_first_of(";\n"));
  write_file(folder_ / kSubmitted, [&](std::ostream& out) { out << job << '\n'; });
}

std::string SlurmBatch::job() const {
  std::ifstream file(folder_ / kSubmitted);
  std::string job;
  file >> job;
  return job;
}

std::vector<SlurmBatch::Ended> SlurmBatch::ended() {
  std::vector<Ended> result;
  for (const std::size_t index : open_) {
    const fs::path folder = point_folder(index);
    const std::optional<RunResult> run = read_result(folder);
    if (!run) continue;
    const BatchPoint& point = points_[index];
    result.push_back({point.name, record_of(point.task.key, point.inputs, point.command, *run, folder), index});
  }
  return result;
}

void SlurmBatch::put_away(std::size_t index) {
  std::error_code status;
  fs::create_directories(folder_ / kCollected, status);
  write_file(folder_ / kCollected / std::to_string(index), [](std::ostream&) {});
  fs::remove_all(point_folder(index), status);
  open_.erase(index);
}

std::optional<bool> SlurmBatch::active() {
  const ProgramOutput answer = run_program({"squeue", "--noheader", "--array", "--name=" + job_name(), "--format=%t"});
  if (answer.exit_code != 0) return std::nullopt;
  std::istringstream lines(answer.output);
  std::size_t jobs = 0;
  running_ = 0;
  for (std::string state; lines >> state; ++jobs)
    if (state != "PD") ++running_;
  return jobs != 0;
}

std::string SlurmBatch::task_log(std::size_t index) const {
  std::ifstream file(folder_ / ("task-" + std::to_string(index / points_per_task_) + ".txt"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<SlurmBatch::Ended> SlurmBatch::lost() {
  std::vector<Ended> result;
  std::error_code status;
  const bool submitted = fs::exists(folder_ / kSubmitted, status);
  std::set<std::size_t> dropped;
  for (const std::size_t index : open_) {
    const fs::path folder = point_folder(index);
    const bool begun = fs::exists(folder, status);
    bool task_begun = false;
    for (std::size_t i = index / points_per_task_ * points_per_task_;
         i < std::min(points_.size(), (index / points_per_task_ + 1) * points_per_task_); ++i)
      task_begun = task_begun || !open_.contains(i) || fs::exists(point_folder(i), status);
    if (!begun && (task_begun || !submitted)) {
      dropped.insert(index);
      continue;
    }
    const BatchPoint& point = points_[index];
    const std::string log = task_log(index);
    RunResult run;
    run.state = !begun                                        ? PointState::failed
                : log.find("TIME LIMIT") != std::string::npos ? PointState::timeout
                                                              : PointState::killed;
    run.exit_code = begun ? 128 + 9 : 1;
    run.why = !begun                             ? "its job ended without having begun it"
              : run.state == PointState::timeout ? "its job reached Slurm's time limit"
                                                 : "its job ended before it";
    run.host = "?";
    run.date = date_now();
    Ended ended{point.name, record_of(point.task.key, point.inputs, point.command, run, folder), index};
    if (!log.empty()) ended.record.log += "output of its job:\n" + log;
    result.push_back(std::move(ended));
  }
  for (const std::size_t index : dropped) open_.erase(index);
  return result;
}

std::set<std::string> SlurmBatch::open_keys() const {
  std::set<std::string> keys;
  for (const std::size_t index : open_) keys.insert(points_[index].task.key);
  return keys;
}

void SlurmBatch::remove() {
  std::error_code status;
  fs::remove_all(folder_, status);
  fs::remove(folder_.parent_path(), status);
}

}  // namespace lacuna
