// A path in a metric, `PATH` or `PATH @ NAME=VALUE, NAME=VALUE`: a statistic of the point itself, or of its reference, the
// point that has these values and is equal in all other axes and repetitions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/sweep/condition.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {

struct StatisticPath {
  std::string path;
  NamedValues reference;  ///< values of the reference; empty = the point itself

  /// Parses a path with or without reference. Throws SweepError on a syntax error.
  static StatisticPath parse(std::string_view text);
  std::string text() const;
};

/// Returns the values of a point's reference. Axes that the point does not have are ignored.
NamedValues reference_values(NamedValues values, const NamedValues& reference);

/// Returns the metric with each of its paths replaced by `change` of it. Throws SweepError when a path is malformed.
Metric with_paths(const Metric& metric, const std::function<StatisticPath(StatisticPath)>& change);

/// Returns the metric with the references extended to all axes of each [zip] that they name. Throws SweepError with the nearest
/// name or value when an axis or its value does not exist.
Metric with_zipped_axes(const Metric& metric, const SweepFile& sweep);

}  // namespace lacuna
