// The files that a launch saves buffers to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "models/host/devices/guest_file.h"

namespace lacuna {

/// Opens a file that receives a buffer of `bytes` bytes and replaces an earlier file of that name when it is complete. If a
/// write fails, the guest's write fails as well, and `lost` is set to the file name and the reason, unless it already contains
/// a text. Returns null if the file cannot be created.
std::unique_ptr<GuestFile> open_saved_file(const std::filesystem::path& file, std::uint64_t bytes, std::string& lost);

}  // namespace lacuna
