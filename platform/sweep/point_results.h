// What a finished point has left: its statistics as paths and numbers, its kernels, and what a sweep takes of them.
//
// Paths: `run.simulated_ps` and the other numbers of a run; `kernels.NAME.cycles`, of all dispatches of that kernel
// (kernel_totals of statistics.json); the tree of statistics from its first level on, `gpu.l2_0.read_hits`; and
// `point.seconds`, `point.user_seconds`, `point.system_seconds`, `point.peak_memory_bytes` of the process.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lacuna {

struct StatisticValue {
  std::string path;
  std::string unit;  ///< "" = not known
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
  std::string kernel_columns;        ///< first line of kernels.csv, or of what output.kernels has put in its place
  std::vector<std::string> kernels;  ///< the others
};

/// Reads the output folder of a run. Throws SweepError when it is not complete: no statistics.json, or one that is cut off.
PointResults read_results(const std::filesystem::path& folder);
/// The numbers of a statistics.json. Throws SweepError.
PointResults parse_statistics(std::string_view json);

/// What is taken of a point: a path, or an expression with {PATH} in it. A name of a path may have *, ? and [...] in it; what
/// matches is added up. A path may be of another point (platform/sweep/taken_path.h).
struct Take {
  std::string name;
  std::string text;

  /// The paths in it, with what is behind @.
  std::vector<std::string> paths() const;
  /// Nothing when one of its paths has no value, or the value is not a number. Throws SweepError when it cannot be read.
  std::optional<double> value(const std::function<std::optional<double>(const std::string& path)>& sum) const;
};

/// Does a path with *, ? and [...] in its names mean this one?
bool path_matches(const std::string& pattern, const std::string& path);

}  // namespace lacuna
