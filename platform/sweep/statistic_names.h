// The paths of a run's results, determined before the run.
#pragma once

#include <string>
#include <vector>

#include "platform/command_line.h"
#include "platform/platform_parameters.h"

namespace lacuna {

/// Returns the paths of a configuration: builds the platform in a separate process, without running it. Kernels have the name
/// "*". Throws SweepError with the reason if the models reject the configuration.
std::vector<std::string> statistic_names(const std::vector<ConfigurationSource>& configuration, Machine machine);

/// Paths of a run of the sparse dataflow accelerator without a GPU, which are always the same.
std::vector<std::string> sida_statistic_names();

/// "" if `paths` contain `path`, else a message with the nearest path. Kernels may have any name.
std::string missing_path(const std::string& path, const std::vector<std::string>& paths);

}  // namespace lacuna
