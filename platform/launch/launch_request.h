// The request of a `lacuna launch` command line, as a session that can be rehearsed and run.
#pragma once

#include <vector>

#include "platform/command_line.h"
#include "platform/launch/launch_session.h"

namespace lacuna {

/// Creates the session of a command line; the caller must call rehearse(). Throws UsageError, LaunchError or ElfError.
LaunchSession requested_launch(const CommandLine& line);

/// The command line's configuration, with the target of the session's code objects unless the user gives another one. Call
/// session.rehearse() first.
std::vector<ConfigurationSource> launch_configuration(const CommandLine& line, const LaunchSession& session);

}  // namespace lacuna
