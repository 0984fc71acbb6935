// Semantic checks of a sweep file: parameters, options of the command, paths of statistics.
#pragma once

#include <vector>

#include "platform/platform_parameters.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/prepared_point.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_point.h"

namespace lacuna {

/// The machine that the sweep's command simulates.
Machine machine_of(const SweepFile& sweep);

/// Checks names and values of parameters, and names of options. Throws SweepError with file, line and the nearest legal name.
void check_names(const SweepFile& sweep);

/// Returns the metrics of the sweep. Their paths must exist with the configuration of the first or the last point. Throws
/// SweepError with file, line and the nearest path.
std::vector<Metric> check_metrics(const SweepFile& sweep, const std::vector<SweepPoint>& points, RunBuilder& builder);

}  // namespace lacuna
