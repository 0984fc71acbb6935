// A batch of points submitted as a job array, and the folder that the sweep and the jobs share.
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

/// A point in the folder of a batch: the data that the job and the collecting sweep need.
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
  /// Opens an existing batch. Returns nullopt if another sweep has locked it, or if its folder is incomplete; such a batch was
  /// never submitted, and its folder is removed.
  static std::optional<SlurmBatch> open(const std::filesystem::path& folder);

  SlurmBatch(SlurmBatch&& other) noexcept;
  SlurmBatch& operator=(SlurmBatch&&) = delete;
  ~SlurmBatch();

  /// Submits with sbatch. Throws SweepError with the output of sbatch.
  void submit(const SlurmSettings& settings);
  /// A point that has ended, with its record. ended() returns those that put_away() has not marked yet.
  struct Ended {
    std::string name;
    PointRecord record;
    std::size_t index;
  };
  std::vector<Ended> ended();
  /// Marks a point as stored in the database, so that it is not returned again.
  void put_away(std::size_t index);
  /// Queries squeue. Returns false if no job of the batch is queued or running, nullopt if squeue fails.
  std::optional<bool> active();
  /// Call this when no job of the batch is left. Returns records of the points that were running when their job ended. Points
  /// that had not started are removed from the batch and can be submitted in another batch; but if a job started none of its
  /// points, all of them are returned as failures.
  std::vector<Ended> lost();

  bool empty() const { return open_.empty(); }
  std::set<std::string> open_keys() const;
  std::size_t running() const { return running_; }
  std::string job_name() const { return "lacuna-" + folder_.filename().string(); }
  /// Slurm job number for messages; "" = unknown.
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
  std::set<std::size_t> open_;  ///< points that put_away() has not marked yet
  std::size_t running_ = 0;
};

}  // namespace lacuna
