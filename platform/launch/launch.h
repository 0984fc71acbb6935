// `lacuna launch`: kernels of a code object, run by the launcher program on the hart.
#pragma once

#include "platform/command_line.h"

namespace lacuna {

/// Runs the command and returns the process's exit code. Throws LaunchError, ElfError, UsageError and the exceptions of
/// simulate() if the input is invalid.
int launch(const CommandLine& line);

}  // namespace lacuna
