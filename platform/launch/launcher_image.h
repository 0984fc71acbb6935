// The launcher program (firmware/apps/launcher.c), which is embedded in this executable.
#pragma once

#include <cstddef>
#include <vector>

namespace lacuna {

/// A copy of the bytes of the launcher's ELF file.
std::vector<std::byte> launcher_image();

}  // namespace lacuna
