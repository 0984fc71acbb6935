// `lacuna sweep` (docs/guide/sweep.md).
#pragma once

#include "platform/command_line.h"

namespace lacuna {

/// Exit code if some points are not done, or if an interval is unknown or wider than `until` allows. Results are stored.
inline constexpr int kExitSomeFailed = 1;

/// Returns the process's exit code: 0 if every point is done, kExitSomeFailed, kExitInterrupted. Throws SweepError, UsageError,
/// ConfigurationError.
int sweep(const CommandLine& line);

}  // namespace lacuna
