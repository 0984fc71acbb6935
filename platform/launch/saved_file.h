// The files that a launch saves buffers to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "models/host/devices/guest_file.h"

namespace lacuna {

/// A file that receives a buffer of `bytes` bytes and replaces an earlier file of the name when it is complete. If it cannot be
/// written, the guest's write fails, and `lost` gets the reason with the file's name, unless it has an earlier one. Null: it
/// cannot be created.
std::unique_ptr<GuestFile> open_saved_file(const std::filesystem::path& file, std::uint64_t bytes, std::string& lost);

}  // namespace lacuna
