// Folders of the configuration files that can be named without a path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lacuna {

/// Folders of presets ("r9nano"): in the source tree, and relative to the program and to the library with this function.
std::vector<std::filesystem::path> preset_folders();

/// Name of the preset whose file this is, such as "dram/hbm2"; "" for any other file.
std::string preset_name(const std::filesystem::path& file);

}  // namespace lacuna
