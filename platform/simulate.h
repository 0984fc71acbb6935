// `lacuna run` and `lacuna hart`: from a command line to an exit code.
#pragma once

#include "platform/command_line.h"

namespace lacuna {

/// Builds the platform, runs the program on it, writes the results. Returns the process's exit code (platform/exit_codes.h).
/// Throws what the parts throw when the user's input is wrong: ConfigurationError, ElfError, OutputError, UsageError.
int simulate(const CommandLine& command_line);

}  // namespace lacuna
