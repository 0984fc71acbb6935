// Fixed columns in the tables of `lacuna results`, in addition to the axes, repetitions and metrics of a sweep. Their names are
// reserved: a program that reads a table by column name could not distinguish an axis of the same name.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace lacuna::result_columns {

/// Columns of tables of combinations of axes; `points` is in CSV only.
inline constexpr std::array<std::string_view, 2> kCombinations{"points", "done"};
/// Columns of tables of --points.
inline constexpr std::array<std::string_view, 9> kPoints{"state",  "exit_code", "seconds", "run_hash", "version",
                                                         "commit", "host",      "date",    "cause"};
/// Columns of tables of --compare.
inline constexpr std::array<std::string_view, 4> kComparison{"value", "before", "now", "change"};
/// Suffixes of a metric's name that form its columns in CSV.
inline constexpr std::array<std::string_view, 9> kSpread{"_mean", "_min",       "_max",    "_samples", "_low",
                                                         "_high", "_deviation", "_needed", "_sampled"};

/// Suffixes of further columns, if a metric has energies.
inline constexpr std::array<std::string_view, 2> kEnergyEnds{"_at_low_energies", "_at_high_energies"};

inline bool has(std::string_view name) {
  const auto is_among = [name](const auto& columns) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return is_among(kCombinations) || is_among(kPoints) || is_among(kComparison);
}

/// Returns true when `name` is a column of `metric`.
inline bool is_of_metric(std::string_view name, std::string_view metric) {
  if (!name.starts_with(metric)) return false;
  const std::string_view rest = name.substr(metric.size());
  return rest.empty() || std::find(kSpread.begin(), kSpread.end(), rest) != kSpread.end() ||
         std::find(kEnergyEnds.begin(), kEnergyEnds.end(), rest) != kEnergyEnds.end();
}

}  // namespace lacuna::result_columns
