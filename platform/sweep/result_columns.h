// Columns of what `lacuna results` prints beside a sweep's own: its axes, repetitions and what it takes. Who reads such a table
// by names could not tell an axis of the same name from them, so sweep files must not have one.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace lacuna::result_columns {

/// Of a line for each combination of axes, in CSV and, but for `points`, for people.
inline constexpr std::array<std::string_view, 2> kCombinations{"points", "done"};
/// Of --points.
inline constexpr std::array<std::string_view, 9> kPoints{"state",  "exit_code", "seconds", "run_hash", "version",
                                                         "commit", "host",      "date",    "cause"};
/// Of --compare.
inline constexpr std::array<std::string_view, 4> kComparison{"value", "before", "now", "change"};
/// Behind the name of what is taken, in CSV.
inline constexpr std::array<std::string_view, 8> kSpread{"_mean", "_min",  "_max",       "_samples",
                                                         "_low",  "_high", "_deviation", "_needed"};

inline bool has(std::string_view name) {
  const auto is_among = [name](const auto& columns) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return is_among(kCombinations) || is_among(kPoints) || is_among(kComparison);
}

/// The name is that of a column of what is taken as `take`.
inline bool is_of_take(std::string_view name, std::string_view take) {
  if (!name.starts_with(take)) return false;
  const std::string_view rest = name.substr(take.size());
  return rest.empty() || std::find(kSpread.begin(), kSpread.end(), rest) != kSpread.end();
}

}  // namespace lacuna::result_columns
