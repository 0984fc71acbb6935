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

/// Returns the metrics of the sweep. Throws SweepError with file, line and the nearest path if a path exists neither with the
/// configuration of the first point nor with that of the last.
std::vector<Metric> check_metrics(const SweepFile& sweep, const std::vector<SweepPoint>& points, RunBuilder& builder);

}  // namespace lacuna
