// A batch of points that has been, or will be, a job array: the folder that the sweep and the jobs share.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/sweep/point_runner.h"
#include "platform/sweep/slurm_sweep.h"

namespace lacuna {

/// A point as it is written to a batch's folder: all that a job and the collector must know.
struct BatchPoint {
  PointTask task;
  PointInputs inputs;
  std::string name;
  std::string command;
};

class SlurmBatch {
 public:
  /// Writes a new batch. Throws SweepError.
  static SlurmBatch create(const std::filesystem::path& parent, const SweepPlan& plan, const std::vector<std::size_t>& indices,
                           unsigned points_per_task);
  /// One that is there. Nothing when another sweep has it in its hands, or its folder is not complete: then it was never
  /// submitted, and it is removed.
  static std::optional<SlurmBatch> open(const std::filesystem::path& folder);

  SlurmBatch(SlurmBatch&& other) noexcept;
  SlurmBatch& operator=(SlurmBatch&&) = delete;
  ~SlurmBatch();

  /// sbatch. Throws SweepError with what it says.
  void submit(const SlurmSettings& settings);
  /// Points that have ended since the last time, as records with their names.
  struct Ended {
    std::string name;
    PointRecord record;
    std::size_t index;
  };
  std::vector<Ended> ended();
  /// After a record is in the database: never to be told again.
  void put_away(std::size_t index);
  /// Asks squeue. Nothing when it does not answer. False: no job of it is queued or running.
  std::optional<bool> active();
  /// When no job is left: points that were running when theirs ended, as records; those that had not begun are dropped from the
  /// batch, and are for another one. Every point of a job that did not begin with any is a failure.
  std::vector<Ended> lost();

  bool empty() const { return open_.empty(); }
  std::set<std::string> open_keys() const;
  std::size_t running() const { return running_; }
  std::string job_name() const { return "lacuna-" + folder_.filename().string(); }
  /// Of Slurm, for messages; "" = not known.
  std::string job() const;
  void remove();

 private:
  explicit SlurmBatch(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void read();
  std::filesystem::path point_folder(std::size_t index) const;
  std::string task_log(std::size_t index) const;

  std::filesystem::path folder_;
  int lock_ = -1;
  unsigned points_per_task_ = 1;
  std::vector<BatchPoint> points_;
  std::set<std::size_t> open_;  ///< that have not been told
  std::size_t running_ = 0;
};

}  // namespace lacuna
