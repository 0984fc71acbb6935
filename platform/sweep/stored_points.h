// Points of a sweep as the database has them, and values over their repetitions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/sweep/results_database.h"
#include "platform/sweep/spread.h"
#include "platform/sweep/taken_path.h"

namespace lacuna {

struct StoredPoint {
  std::int64_t id = 0;  ///< 0 = it has not been run
  NamedValues axes;
  NamedValues repeats;
  std::string key;
  PointState state = PointState::failed;
  int exit_code = 0;
  double seconds = 0;
  std::string version;
  std::string commit;
  std::string host;
  std::string date;
  std::string run_hash;
  std::string command;
  std::string cause;  ///< why it is not done
  std::string log;

  bool is_done() const { return id != 0 && state == PointState::done; }
  /// "not run", or the state's name.
  std::string state_text() const { return id == 0 ? "not run" : state_name(state); }
};

/// The repetitions of one combination of axes.
struct PointGroup {
  NamedValues axes;
  std::vector<StoredPoint> points;
  std::vector<Spread> values;  ///< one for each take

  std::size_t done() const;
};

/// A sweep and a build: "l2", "l2@3fb9c1", "l2@0.2.0".
struct SweepSelection {
  std::string sweep;
  std::string version;  ///< the beginning of a commit, or a version; "" = the sweep as it was run last

  static SweepSelection parse(const std::string& text);
};

/// Tells the places of a sweep apart.
std::string place_of(const NamedValues& axes, const NamedValues& repeats);

/// What takes say of points of one sweep, which may be one another's references.
class TakenValues {
 public:
  /// Of all of these, those that are done may be references. Throws SweepError when a path cannot be read.
  TakenValues(ResultsDatabase& database, const std::vector<Take>& takes, const std::vector<StoredPoint>& points);

  /// Nothing when the point or a reference is not done, or a path has no value.
  std::optional<double> value(const Take& take, const StoredPoint& point);

 private:
  /// A path as it is written in a take, and the sum of what it matches in one point.
  struct Path {
    TakenPath taken;
    std::optional<SqliteStatement> sum;  ///< nothing = the database has no such path
  };

  std::map<std::string, std::int64_t> done_;  ///< rows, by place in the sweep
  std::map<std::string, Path> paths_;
};

/// Throws SweepError naming the sweeps that there are.
StoredSweep find_sweep(ResultsDatabase& database, const std::string& name);

/// The points of a selection for which all conditions hold, in the order of the sweep, with the values that are taken. Throws
/// SweepError when there are none.
std::vector<PointGroup> load_points(ResultsDatabase& database, const SweepSelection& selection, const std::vector<Take>& takes,
                                    const std::vector<std::string>& conditions);

/// The unit that all of a take's paths have; "" when they have several, or it is computed.
std::string unit_of(ResultsDatabase& database, const Take& take);
/// Throws SweepError with the nearest path when nothing in the database has one of the take's.
void require_paths(ResultsDatabase& database, const Take& take);

}  // namespace lacuna
