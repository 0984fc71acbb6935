// What is said of results: tables for people, CSV for programs, and what has changed between two of them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "platform/sweep/stored_points.h"

namespace lacuna {

/// What is shown of each point: a take with its unit.
struct ReportedTake {
  Take take;
  std::string unit;

  /// "cycles", "time (ps)".
  std::string title() const { return unit.empty() || unit == take.name ? take.name : take.name + " (" + unit + ')'; }
};

/// A number for people: six significant digits, thousands apart.
std::string readable_number(double value);

/// "1 %", "0.25 %".
std::string readable_percent(double share);
/// The mean, with the half of its interval as a share of it where there are at least two samples: "1343.5 ± 2.1 %".
std::string readable_spread(const Spread& spread);

/// An interval of a mean, for which a report says how many samples it needs.
struct WantedInterval {
  double share = 0.01;    ///< mean ± this share of it
  bool in_table = false;  ///< also in a column of its own for each take, not only the range below the table
};

/// A line for each combination of axes: mean and interval. Below it, what the interval is and how many samples the wanted one
/// needs.
void write_groups(const std::vector<PointGroup>& groups, const std::vector<ReportedTake>& takes, const WantedInterval& wanted,
                  std::ostream& out);
/// Columns: axes, points, done, then those of result_columns::kSpread for each take.
void write_groups_csv(const std::vector<PointGroup>& groups, const std::vector<ReportedTake>& takes,
                      const WantedInterval& wanted, std::ostream& out);

/// A line for each point; only the CSV says why a point is not done.
void write_points(const std::vector<PointGroup>& groups, std::ostream& out);
void write_points_csv(const std::vector<PointGroup>& groups, std::ostream& out);
/// Points that ended otherwise than done: why, in the first line of each; the command; the end of the log, with the
/// line that says why.
void write_failures(const std::vector<PointGroup>& groups, std::ostream& out);

/// What has changed from `before` to `after`: means that differ by more than `threshold` (0.01 is 1 %) and whose intervals have
/// nothing in common. Combinations that only one of the two has are counted. Returns how many values have changed.
std::size_t write_comparison(const std::vector<PointGroup>& before, const std::vector<PointGroup>& after,
                             const std::vector<ReportedTake>& takes, double threshold, std::ostream& out);

}  // namespace lacuna
