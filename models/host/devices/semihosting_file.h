// The kinds of file that a semihosting handle can refer to. Used by semihosting*; platform/launch also calls open_host_file().
#pragma once

#include <filesystem>
#include <memory>

#include "models/host/devices/guest_file.h"
#include "models/host/rv64/guest_access.h"

namespace lacuna {

/// `mode` 0..11: number of fopen's mode in SYS_OPEN. Null if the host refuses; errno is then set to the reason.
std::unique_ptr<GuestFile> open_host_file(const std::filesystem::path& path, unsigned mode);
std::unique_ptr<GuestFile> open_console_file(const HartConsole& console, bool input);
/// The read-only file ":semihosting-features".
std::unique_ptr<GuestFile> open_feature_file();

}  // namespace lacuna
