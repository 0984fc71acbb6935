// The files that a launch saves buffers to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "models/host/devices/guest_file.h"

namespace lacuna {

/// Takes a buffer of `bytes` bytes and is there when it has got all of them; until then an earlier file of the name stays. When
/// it cannot be written, the guest's write fails and the reason, with the file's name, is in `lost` unless an earlier one is.
/// Null: it cannot be made.
std::unique_ptr<GuestFile> open_saved_file(const std::filesystem::path& file, std::uint64_t bytes, std::string& lost);

}  // namespace lacuna
