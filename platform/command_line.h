// The command line: `lacuna run|launch|exec|hart|disasm|isa|docs` and the options of each.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/run/exit_codes.h"

namespace lacuna {

/// The command line is wrong; what() says what and how to get help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Command { run, launch, exec, hart, disasm, isa_check, docs, list_parameters, version, help };

/// One --config or --set, in the order given.
struct ConfigurationSource {
  bool file = false;
  std::string value;
};

/// Of `lacuna launch`, as the user wrote them.
struct LaunchOptions {
  /// --kernel, --grid, --block, …: names without dashes and values, in the order given.
  std::vector<std::pair<std::string, std::string>> values;
};

struct CommandLine {
  Command command = Command::help;
  std::string help;                          ///< text to print for Command::help
  std::string input;                         ///< program, code object, or folder of `docs`
  std::vector<std::string> guest_arguments;  ///< behind --
  std::vector<ConfigurationSource> configuration;
  std::optional<std::string> output_folder;  ///< --out
  std::optional<std::uint16_t> gdb_port;     ///< --gdb
  std::string console_input;                 ///< --input
  bool quiet = false;
  LaunchOptions launch;
  std::vector<std::string> inputs;  ///< of isa check: all files
  bool json = false;                ///< of isa check
};

/// Throws UsageError.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace lacuna
