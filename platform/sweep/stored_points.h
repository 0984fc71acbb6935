// Points of a sweep as the database has them, and values over their repetitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/sweep/results_database.h"

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

  /// "not run", or the state's name.
  std::string state_text() const { return id == 0 ? "not run" : state_name(state); }
};

/// What was measured of one value: the mean of its repetitions, and the interval that they cover.
struct Spread {
  std::size_t samples = 0;
  double mean = 0;
  double min = 0;
  double max = 0;

  void add(double value);
  /// Their intervals have a value in common: then a difference between the two says nothing.
  bool overlaps(const Spread& other) const { return min <= other.max && other.min <= max; }
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
