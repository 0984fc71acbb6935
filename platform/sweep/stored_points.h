// Points of a sweep as stored in the database, and statistics of metrics over repetitions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/common/math/spread.h"
#include "platform/sweep/results_database.h"
#include "platform/sweep/sampled_statistics.h"
#include "platform/sweep/statistic_path.h"

namespace lacuna {

struct StoredPoint {
  std::int64_t id = 0;  ///< row in the database; 0 = not run
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
  std::string cause;  ///< cause of a failure, in one line
  std::string log;

  bool is_done() const { return id != 0 && state == PointState::done; }
  /// "not run", or the state's name.
  std::string state_text() const { return id == 0 ? "not run" : state_name(state); }
};

/// Values of a metric with all energies at the low and at the high ends of their intervals. No samples: not stored, or the
/// metric has no energies.
struct EnergyEnds {
  Spread low;
  Spread high;

  bool known() const { return low.samples != 0 && high.samples != 0; }
};

/// The repetitions of one combination of axes.
struct PointGroup {
  NamedValues axes;
  std::vector<StoredPoint> points;
  std::vector<Spread> values;      ///< one per metric
  std::vector<EnergyEnds> ends{};  ///< one per metric

  std::size_t done() const;
};

/// A sweep and optionally a build: "l2", "l2@3fb9c1", "l2@0.2.0".
struct SweepSelection {
  std::string sweep;
  std::string version;  ///< prefix of a commit, or a version; "" = latest run of the sweep

  static SweepSelection parse(const std::string& text);
};

/// A key that identifies a combination of axes and repetitions.
std::string place_of(const NamedValues& axes, const NamedValues& repeats);

/// Value of a metric at a point.
struct MetricValue {
  double value = 0;
  double half_width = 0;  ///< half-width of its 95 % confidence interval due to sampled timing; 0: exact or unknown
};

/// Values of metrics for the points of one sweep. Points may refer to one another.
class MetricValues {
 public:
  /// `points`: all points of the sweep; those in state `done` may be references. Throws SweepError when a path is malformed.
  MetricValues(ResultsDatabase& database, const std::vector<Metric>& metrics, const std::vector<StoredPoint>& points);

  /// Value of a metric; nullopt when the state of the point or of a reference is not `done`, or when a path has no value.
  std::optional<MetricValue> value(const Metric& metric, const StoredPoint& point);

 private:
  /// A path of a metric, and the query that adds up the matching statistics of a point.
  struct Path {
    StatisticPath parsed;
    std::optional<SqliteStatement> sum;  ///< empty = the database has no such path
    /// Selects those of the matching statistics that may be estimates; empty = there are none.
    std::optional<SqliteStatement> estimates;
  };
  /// The value of a path for a point or its reference.
  struct Input {
    std::string text;  ///< path with reference
    std::int64_t point = 0;
    std::string path;
    double sum = 0;
    double half_width = 0;

    bool is_same_statistic(const Input& other) const { return point == other.point && path == other.path; }
  };

  /// Returns the value of a path with reference; nullopt when the point that it refers to is not done, or the path has no
  /// value.
  std::optional<Input> input(const std::string& text, const StoredPoint& point);
  /// Half-width of the sum of a path's statistics. The half-widths are added, because errors of sampled timing in one run are
  /// not independent.
  double half_width(Path& path, std::int64_t point);
  static double half_width(const Metric& metric, double value, const std::vector<Input>& inputs);

  std::map<std::string, std::int64_t> done_;  ///< rows of points in state `done`, by place_of()
  std::map<std::string, Path> paths_;
  SampledStatistics sampled_;
};

/// Finds a sweep by name. Throws SweepError with the names of the stored sweeps when there is no such sweep.
StoredSweep find_sweep(ResultsDatabase& database, const std::string& name);

/// Returns the points of a selection for which all conditions hold, in the order of the sweep, with the values of the metrics.
/// Throws SweepError when there are none.
std::vector<PointGroup> load_points(ResultsDatabase& database, const SweepSelection& selection,
                                    const std::vector<Metric>& metrics, const std::vector<std::string>& conditions);

/// Returns the common unit of a metric's paths; "" when units differ or the metric is an expression.
std::string unit_of(ResultsDatabase& database, const Metric& metric);
/// Throws SweepError with the nearest path when a path of the metric is not in the database.
void require_paths(ResultsDatabase& database, const Metric& metric);

}  // namespace lacuna
