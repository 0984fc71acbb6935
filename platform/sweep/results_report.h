// Reports of results: tables, CSV, and the differences of two selections.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "platform/sweep/stored_points.h"

namespace lacuna {

/// A metric with its unit.
struct ReportedMetric {
  Metric metric;
  std::string unit;

  /// Title of the column, such as "cycles" or "time (ps)".
  std::string title() const { return unit.empty() || unit == metric.name ? metric.name : metric.name + " (" + unit + ')'; }
};

/// Formats whole numbers and numbers from 100,000 up as integers with thousands separators, others with six significant digits.
std::string readable_number(double value);

/// Formats a share as "1 %" or "0.25 %".
std::string readable_percent(double share);
/// Formats a half-width as a share of the mean, "± 2.1 %", or as a number if the mean is 0, "± 2.1".
std::string readable_interval(double mean, double half_width);
/// Formats the mean and, if it has one, the half-width of its interval as a share of the mean: "1343.5 ± 2.1 %", and "1343.5 ±
/// 2.1 % sampled" if the interval includes the error of sampled timing.
std::string readable_spread(const Spread& spread);

/// Confidence interval for which a report estimates the number of samples needed.
struct WantedInterval {
  double share = 0.01;    ///< half-width as a share of the mean
  bool in_table = false;  ///< whether to add a column per metric, in addition to the range below the table
};

/// Writes a line per combination of axes with means and intervals, followed by the confidence level and the number of samples
/// that the wanted interval needs.
void write_groups(const std::vector<PointGroup>& groups, const std::vector<ReportedMetric>& metrics,
                  const WantedInterval& wanted, std::ostream& out);
/// Writes CSV with the columns axes, points, done, and those of result_columns::kSpread for each metric.
void write_groups_csv(const std::vector<PointGroup>& groups, const std::vector<ReportedMetric>& metrics,
                      const WantedInterval& wanted, std::ostream& out);

/// Writes a line per point; only the CSV has the cause of a failure.
void write_points(const std::vector<PointGroup>& groups, std::ostream& out);
void write_points_csv(const std::vector<PointGroup>& groups, std::ostream& out);
/// Writes the points that have failed, timed out or been killed: the cause, the command, and the end of the log with the line
/// of the cause.
void write_failures(const std::vector<PointGroup>& groups, std::ostream& out);

/// Writes the changes from `before` to `after`: means that differ by more than `threshold` (0.01 is 1 %) and whose intervals do
/// not overlap. Combinations that only one of the two selections has are counted, not compared. Returns the number of changed
/// values.
std::size_t write_comparison(const std::vector<PointGroup>& before, const std::vector<PointGroup>& after,
                             const std::vector<ReportedMetric>& metrics, double threshold, std::ostream& out);

}  // namespace lacuna
