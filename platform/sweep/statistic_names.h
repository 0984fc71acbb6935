// The paths that the results of a run will have, known before anything runs.
#pragma once

#include <string>
#include <vector>

#include "platform/command_line.h"
#include "platform/platform_parameters.h"

namespace lacuna {

/// Builds the platform with this configuration in a process of its own, which runs nothing. Kernels have the name "*".
/// Throws SweepError with the reason when the models refuse the configuration.
std::vector<std::string> statistic_names(const std::vector<ConfigurationSource>& configuration, Machine machine);

/// The same of a run of the sparse dataflow accelerator without a GPU, which are always the same.
std::vector<std::string> sida_statistic_names();

/// "" when the paths have it, else what is wrong and the nearest path. A kernel may have any name.
std::string missing_path(const std::string& path, const std::vector<std::string>& paths);

}  // namespace lacuna
