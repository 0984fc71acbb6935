// Points of a sweep as job arrays of Slurm, through the site's own sbatch and squeue, without a process of ours that stays.
//
// A batch is a folder beside the database, which nodes and the machine of the sweep must both see: the points, the script that
// was handed to sbatch, and a folder for each point that has begun. A job of the array runs the points of its share one after
// the other (`lacuna sweep --task FOLDER`) and marks those that have ended; nodes do not open the database. The sweep collects
// what has ended. When it is gone meanwhile, the jobs go on, and the next start of the same command collects.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/results_database.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_plan.h"
#include "platform/sweep/sweep_progress.h"

namespace lacuna {

/// [slurm] and --slurm.
struct SlurmSettings {
  std::vector<std::string> sbatch_options;  ///< "--partition=short", …
  unsigned cpus = 1;                        ///< of a job
  unsigned points_per_task = 1;             ///< that a job runs, one after the other
  unsigned tasks_at_once = 0;               ///< jobs of an array that may run at a time; 0 = as many as the site allows
  unsigned array_size = 1000;               ///< jobs of an array at most; Slurm's own limit is MaxArraySize - 1
};

/// Throws SweepError with place, key and nearest name.
SlurmSettings slurm_settings(const SweepFile& sweep, const std::vector<std::pair<std::string, std::string>>& options);

/// Submits the points that no job has yet, and collects until all have ended, or once when `wait` is false. True: all of them
/// have been run. Throws SweepError when sbatch refuses.
bool run_on_slurm(SweepPlan& plan, const std::vector<std::size_t>& to_run, const SlurmSettings& settings, bool wait,
                  ResultsDatabase& database, SweepProgress& progress);

/// What a job of the array runs: the points of SLURM_ARRAY_TASK_ID in the batch's folder. Returns its exit code.
int run_slurm_task(const std::string& folder);

}  // namespace lacuna
