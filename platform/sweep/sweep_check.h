// What can be wrong with a sweep beyond its own grammar: parameters, options of the command, paths of statistics.
#pragma once

#include <vector>

#include "platform/platform_parameters.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/prepared_point.h"
#include "platform/sweep/sweep_file.h"
#include "platform/sweep/sweep_point.h"

namespace lacuna {

/// Of the sweep's command.
Machine machine_of(const SweepFile& sweep);

/// Names and values of parameters, and names of options. Throws SweepError with file, line and the nearest legal name.
void check_names(const SweepFile& sweep);

/// What is taken of each point. The paths must exist with the configuration of the first point or of the last one. Throws
/// SweepError with file, line and the nearest path.
std::vector<Take> check_takes(const SweepFile& sweep, const std::vector<SweepPoint>& points, PointPreparer& preparer);

}  // namespace lacuna
