// Folders of the configuration files that can be named without a path.
#pragma once

#include <filesystem>
#include <vector>

namespace lacuna {

/// Folders of presets ("r9nano"): in the source tree, and relative to the installed program or library.
std::vector<std::filesystem::path> preset_folders();

}  // namespace lacuna
