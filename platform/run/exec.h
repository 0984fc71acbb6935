// `lacuna exec`: runs a program of ROCm's user-mode stack on the virtual GPUs.
//
// The program is not touched: it gets an environment in which the dynamic linker finds Lacuna's libhsakmt.so.1 before the one
// of the system, and the command line's configuration (drivers/rocm/settings.h). Then it takes this process over: exit code,
// signals and terminal are its own.
#pragma once

#include <filesystem>
#include <string>

#include "platform/command_line.h"

namespace lacuna {

/// Lacuna's libhsakmt.so.1: beside this program in the build tree, or where both are installed. Throws UsageError.
std::filesystem::path rocm_library();

/// As execvp(3) finds it; "" when it does not.
std::filesystem::path program_file(const std::string& name);

/// Does not return unless the program cannot be started: 127 when there is no such program, otherwise 126. Throws UsageError,
/// ConfigurationError, OutputError.
int exec_program(const CommandLine& line);

}  // namespace lacuna
