// Where configuration files that are known by name are.
#pragma once

#include <filesystem>
#include <vector>

namespace lacuna {

/// Where presets ("r9nano") are: in the source tree, and where an installed program or library has them.
std::vector<std::filesystem::path> preset_folders();

}  // namespace lacuna
