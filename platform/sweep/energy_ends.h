// Values of a metric with all energies at the low or at the high ends of their intervals (energy.spread_*), also those of its
// references. Errors of energies are common to all runs, so that a ratio of energies differs much less between both ends than
// the energies do.
//
//   kernels.NAME.energy.joules, mean_watts, energy_delay_js, blocks.BLOCK      kernels.NAME.energy.low_joules, ...
//   energy.DEVICE.whole.joules, blocks.BLOCK; also of kernels and idle         energy.DEVICE.whole.low_joules, ...
//   sida.energy.total, compute, memory, buffer, buffer_by_kind.KIND            sida.energy.low_total, ...
#pragma once

#include <optional>
#include <string>

#include "models/energy/energy_parameters.h"
#include "platform/sweep/point_results.h"

namespace lacuna {

/// The path of the statistic with all energies at this end; nullopt if the statistic has no ends.
std::optional<std::string> path_at(const std::string& path, EnergyBound end);

/// The metric with all energies at this end; nullopt if no path of it has ends. Throws SweepError when a path is malformed.
std::optional<Metric> metric_at(const Metric& metric, EnergyBound end);

}  // namespace lacuna
