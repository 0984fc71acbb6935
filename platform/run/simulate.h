// `lacuna run`, `lacuna hart` and `lacuna launch`: from a command line to an exit code.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "models/host/devices/guest_file.h"
#include "platform/command_line.h"
#include "platform/loaders/elf_file.h"

namespace lacuna {

/// The program that the hart boots.
struct GuestProgram {
  ElfFile elf;
  std::string name;                     ///< name in reports
  std::string command_line{};           ///< result of semihosting SYS_GET_CMDLINE
  std::vector<std::string> warnings{};  ///< warnings to log at the beginning of the run
  GuestFileProvider files{};            ///< files provided by the simulator; null = none
  /// Returns the code object files of the kernels, for source lines in reports; null: code objects embedded in `elf`.
  std::function<std::vector<std::span<const std::byte>>()> code{};
  /// Called with the program's exit code when the program has exited; prints to `out` (which may be null) and returns the
  /// process's exit code. Null: the program's exit code is used unchanged.
  std::function<int(int code, std::ostream* out)> conclude{};
};

/// Builds the platform, runs the program on it and writes the results. Returns the process's exit code
/// (platform/run/exit_codes.h). Throws ConfigurationError, ElfError, OutputError or UsageError if the user's input is invalid.
int simulate(const CommandLine& command_line, GuestProgram program);
/// Runs the program that the command line names.
int simulate(const CommandLine& command_line);

}  // namespace lacuna
