// Results of a finished point: its statistics as paths and numbers, its kernels, and the metrics that a sweep computes from
// them.
//
// Paths: `run.simulated_ps` and the other numbers of a run; `kernels.NAME.cycles`, over all dispatches of that kernel
// (kernel_totals of statistics.json); statistics by their path in the tree, such as `gpu.l2_0.read_hits`; `result.NAME` for
// values that the program reports in a line `result: NAME=VALUE ...`; and `point.seconds`, `point.user_seconds`,
// `point.system_seconds`, `point.peak_memory_bytes` of the process.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lacuna {

struct StatisticValue {
  std::string path;
  std::string unit;  ///< "" = unknown
  std::variant<std::int64_t, double> value;

  double as_double() const {
    return std::holds_alternative<double>(value) ? std::get<double>(value) : static_cast<double>(std::get<std::int64_t>(value));
  }
};

struct PointResults {
  std::vector<StatisticValue> statistics;
  std::string run_hash;
  std::string version;
  std::string configuration;         ///< effective.cfg
  std::string kernel_columns;        ///< first line of kernels.csv, or of the file that output.kernels selects instead
  std::vector<std::string> kernels;  ///< other lines of that file
};

/// Reads the output folder of a run. Throws SweepError when statistics.json is missing or truncated.
PointResults read_results(const std::filesystem::path& folder);
/// Parses the numbers of a statistics.json. Throws SweepError.
PointResults parse_statistics(std::string_view json);
/// Parses the last line `result: NAME=VALUE ...` of a program's output into values `result.NAME`. A VALUE that is a
/// comma-separated list of numbers is replaced by their mean. Empty if there is no such line.
std::vector<StatisticValue> parse_result_line(std::istream& output);

/// A metric of a point: the path of a statistic, or an expression over {PATH}. Names in a path may contain *, ? and [...]; the
/// values of all matching paths are added. A path may refer to another point (platform/sweep/statistic_path.h).
struct Metric {
  std::string name;
  std::string text;

  /// Paths in the metric, with their references (`@ NAME=VALUE`).
  std::vector<std::string> paths() const;
  /// Evaluates the metric; `sum` returns the value of a path. Empty when a path has no value or the result is not finite.
  /// Throws SweepError on a syntax error.
  std::optional<double> value(const std::function<std::optional<double>(const std::string& path)>& sum) const;
};

/// The path with the kernel's name as reports show it: "kernels.stencil.cycles" for "kernels._Z7stencilPKfPf.cycles".
std::string readable_path(const std::string& path);
/// "" if a run's results contain the path; otherwise a sentence with possible names: the run's kernels, or values that the
/// program has printed.
std::string path_without_result(const std::string& path, const PointResults& results);
/// Returns true when a pattern with *, ? and [...] in its names matches `path`, or readable_path() of it.
bool path_matches(const std::string& pattern, const std::string& path);

}  // namespace lacuna
