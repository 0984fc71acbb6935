// A sweep with all that is known before its first point runs.
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
  std::optional<PointState> state;  ///< in the database; nothing = not run yet
  std::string stale;                ///< what has changed since it was run with other inputs; "" = it has not been run
  bool wanted = true;               ///< false: a repetition that `until` does not ask for, so far

  /// For messages: its values, or its number where it has none.
  std::string name() const;
};

class SweepPlan {
 public:
  /// Checks everything. Changes the current folder to that of the file, where points run. Throws SweepError.
  SweepPlan(SweepFile file, unsigned host_threads);
  ~SweepPlan();
  SweepPlan(const SweepPlan&) = delete;
  SweepPlan& operator=(const SweepPlan&) = delete;

  const SweepFile& file() const { return file_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<Take>& takes() const { return takes_; }
  const std::vector<PlannedPoint>& points() const { return points_; }
  const std::filesystem::path& simulator() const { return preparer_->simulator(); }

  /// What the database says of each point, and which repetitions are wanted because of it. Null: there is no database.
  void look_up(ResultsDatabase* database);
  /// Of a sweep with `until`; null without.
  const RepetitionChoice* choice() const { return choice_.get(); }
  std::size_t wanted() const;
  /// The points that are wanted, as the sweep's members.
  void register_in(ResultsDatabase& database) const;
  /// The points that are wanted and are to be run, each set of inputs once.
  std::vector<std::size_t> to_run(bool retry) const;
  /// As a shell takes it, in any folder.
  std::string command(const PlannedPoint& point) const;
  std::map<std::string, std::string> entered_files() const { return preparer_->entered_files(); }
  /// A file that enters the points and is not what it was when they were prepared; "" when there is none.
  std::string changed_file() { return preparer_->changed_file(); }

  /// How many points are to be run again because something has changed, and what; "" when there are none.
  std::string stale_summary() const;

 private:
  SweepFile file_;
  std::filesystem::path folder_;
  std::unique_ptr<PointPreparer> preparer_;
  std::vector<Take> takes_;
  std::vector<PlannedPoint> points_;
  std::unique_ptr<RepetitionChoice> choice_;
};

}  // namespace lacuna
