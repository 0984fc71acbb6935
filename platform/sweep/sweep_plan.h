// Plan of a sweep: its points with their runs and their states in the database, and the choice of points to run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/sweep/point_runner.h"
#include "platform/sweep/prepared_point.h"
#include "platform/sweep/results_database.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_point.h"

namespace lacuna {

class RepetitionChoice;

struct PlannedPoint {
  SweepPoint point;
  PreparedPoint prepared;
  std::optional<PointState> state;  ///< state in the database; empty = not run
  std::string stale;                ///< inputs that differ from an earlier run of this point; "" = none
  bool wanted = true;               ///< false: a repetition that `until` does not need so far

  /// Name for messages: the point's values, or its number if it has no values.
  std::string name() const;
};

class SweepPlan {
 public:
  /// Checks the whole sweep and changes the working directory to the folder of the file, where points run. Throws SweepError.
  SweepPlan(SweepFile file, unsigned host_threads);
  ~SweepPlan();
  SweepPlan(const SweepPlan&) = delete;
  SweepPlan& operator=(const SweepPlan&) = delete;

  const SweepFile& file() const { return file_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<PlannedPoint>& points() const { return points_; }
  const std::filesystem::path& simulator() const { return builder_->simulator(); }

  /// Updates the states of the points and the wanted repetitions from the database; null = no database.
  void look_up(ResultsDatabase* database);
  /// Choice of repetitions of a sweep with `until`; null without `until`.
  const RepetitionChoice* choice() const { return choice_.get(); }
  /// Number of points whose `wanted` is true.
  std::size_t wanted() const;
  /// Registers the wanted points as members of the sweep.
  void register_in(ResultsDatabase& database) const;
  /// Indices of wanted points that have no result yet or, with `retry`, have failed, timed out or been killed. Of several
  /// points with equal inputs only one is included.
  std::vector<std::size_t> to_run(bool retry) const;
  /// Shell command that runs a point from any folder.
  std::string command(const PlannedPoint& point) const;
  std::map<std::string, std::string> entered_files() const { return builder_->entered_files(); }
  /// Returns an input file that has changed since it was hashed; "" if none.
  std::string changed_file() { return builder_->changed_file(); }

  /// Report of stale points and the inputs that changed; "" if none.
  std::string stale_summary() const;

 private:
  SweepFile file_;
  std::filesystem::path folder_;
  std::unique_ptr<RunBuilder> builder_;
  std::vector<Metric> metrics_;
  std::vector<PlannedPoint> points_;
  std::unique_ptr<RepetitionChoice> choice_;
};

}  // namespace lacuna
