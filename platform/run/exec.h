// `lacuna exec`: runs a program of ROCm's user-mode stack on the virtual GPUs.
//
// The program is not modified: its environment makes the dynamic linker find Lacuna's libhsakmt.so.1 before the system's, and
// contains the command line's configuration (drivers/rocm/settings.h). The program replaces this process, so that exit code,
// signals and terminal are the program's.
#pragma once

#include <filesystem>
#include <string>

#include "platform/command_line.h"

namespace lacuna {

/// Locates Lacuna's libhsakmt.so.1 from the location of this program, in the build tree or in the installation, and returns its
/// path. Throws UsageError if it is missing.
std::filesystem::path rocm_library();

/// The program that execvp(3) would find; "" if there is none.
std::filesystem::path program_file(const std::string& name);

/// Returns only if the program cannot be started: 127 if there is no such program, otherwise 126. Throws UsageError,
/// ConfigurationError, OutputError.
int exec_program(const CommandLine& line);

}  // namespace lacuna
