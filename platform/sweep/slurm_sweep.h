// Runs points of a sweep as job arrays of Slurm, through the site's sbatch and squeue, without a permanently running process.
//
// A batch is a folder next to the database, which must be visible to the nodes and to the machine of the sweep: the points, the
// script passed to sbatch, and a folder for each point that has started. A job of the array runs its share of the points
// sequentially (`lacuna sweep --task FOLDER`) and marks points that have ended; nodes do not open the database. The sweep
// collects ended points. If the sweep ends before the jobs, they continue, and the next start of the same command collects
// their results.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/results_database.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_plan.h"
#include "platform/sweep/sweep_progress.h"

namespace lacuna {

/// Settings of [slurm] and --slurm.
struct SlurmSettings {
  std::vector<std::string> sbatch_options;  ///< "--partition=short", …
  unsigned cpus = 1;                        ///< CPUs of a job
  unsigned points_per_task = 1;             ///< number of points that a job runs sequentially
  unsigned tasks_at_once = 0;               ///< maximum number of concurrent jobs of an array; 0 = as many as the site allows
  unsigned array_size = 1000;               ///< maximum number of jobs of an array; Slurm's own limit is MaxArraySize - 1
};

/// Parses the settings. Throws SweepError with location, key and nearest name.
SlurmSettings slurm_settings(const SweepFile& sweep, const std::vector<std::pair<std::string, std::string>>& options);

/// Collects results, submits the points that are in no job yet, and, if `wait` is true, collects results until all points have
/// ended. Returns true if all points have been run, or if `wait` is false. Throws SweepError if sbatch rejects the batch.
bool run_on_slurm(SweepPlan& plan, const std::vector<std::size_t>& to_run, const SlurmSettings& settings, bool wait,
                  ResultsDatabase& database, SweepProgress& progress);

/// Entry point of a job of the array: runs the points of SLURM_ARRAY_TASK_ID in the batch's folder. Returns the exit code.
int run_slurm_task(const std::string& folder);

}  // namespace lacuna
