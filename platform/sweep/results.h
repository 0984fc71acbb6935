// `lacuna results` (docs/guide/sweep.md).
#pragma once

#include "platform/command_line.h"

namespace lacuna {

/// Returns the process's exit code: 0, or 1 when a comparison has found a change. Throws SweepError or UsageError.
int results(const CommandLine& line);

}  // namespace lacuna
