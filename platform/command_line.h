// The command line: `lacuna run|launch|exec|sweep|results|hart|disasm|isa|finalize|mesh|sida|docs` and the options of each.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/run/exit_codes.h"
#include "platform/sida/matrix_tools.h"
#include "platform/usage_error.h"

namespace lacuna {

enum class Command {
  run,
  launch,
  exec,
  sweep,
  results,
  hart,
  disasm,
  isa_check,
  finalize,
  mesh,
  sida,
  docs,
  list_parameters,
  version,
  help
};

/// A --config or --set option.
struct ConfigurationSource {
  bool file = false;
  std::string value;
};

/// Options of `lacuna launch`, as the user wrote them.
struct LaunchOptions {
  /// --kernel, --grid, --block, …: names (without dashes) and values, in the order given.
  std::vector<std::pair<std::string, std::string>> values;
};

/// Options of `lacuna sweep`.
struct SweepOptions {
  unsigned jobs = 0;      ///< points that run concurrently; 0 = number of processors
  bool on_slurm = false;  ///< --on slurm
  bool wait = true;       ///< false: --no-wait
  bool dry_run = false;
  bool retry = false;
  bool overnight = false;            ///< only points that the file marks as overnight
  std::optional<std::string> files;  ///< --files: folder with the inputs that the sweep file names
  std::optional<std::string> database;
  std::optional<std::string> task;  ///< --task: folder of the batch job to run, instead of FILE
  /// --slurm: keys and values as in section [slurm], in the order given.
  std::vector<std::pair<std::string, std::string>> slurm;
};

/// Options of `lacuna results`.
struct ResultsOptions {
  std::string database;
  std::vector<std::string> metrics;  ///< NAME=PATH, or only a path
  std::vector<std::string> where;
  std::optional<std::string> compare;
  std::string threshold;
  std::optional<std::string> interval;
  bool points = false;
  bool failed = false;
  bool csv = false;
};

/// Options of `lacuna finalize`.
struct FinalizeOptions {
  std::optional<std::string> tagged;  ///< --out: the file with tags
  std::optional<std::string> report;  ///< --report: the file for the report
  bool move = true;                   ///< false: --no-move
  bool take_apart = false;            ///< --take-apart: also move loads past waits
  bool interleaved = false;           ///< --interleaved: also tag interleaved chains
};

/// Options of `lacuna mesh`.
struct MeshOptions {
  unsigned core = 0;                   ///< --core: the core whose meeting nodes are shown
  std::optional<std::string> picture;  ///< --out: the file for the picture
};

struct CommandLine {
  Command command = Command::help;
  std::string help;                          ///< text to print for Command::help
  std::string input;                         ///< first operand: a program, file, sweep or folder; "" if none
  std::vector<std::string> guest_arguments;  ///< arguments of the guest program, after --
  std::vector<ConfigurationSource> configuration;
  std::optional<std::string> output_folder;  ///< --out: the output folder
  std::optional<std::uint16_t> gdb_port;     ///< --gdb: TCP port; 0 = any free port
  std::string console_input;                 ///< --input: file, or "-" for standard input
  bool quiet = false;
  bool strict_memory = false;  ///< exec: --strict-memory
  LaunchOptions launch;
  SweepOptions sweep;
  ResultsOptions results;
  FinalizeOptions finalize;
  MeshOptions mesh;
  SidaOptions sida;
  std::vector<std::string> inputs;  ///< isa check: all input files
  bool json = false;                ///< isa check: print JSON
};

/// The long names of a command's options, without dashes.
std::vector<std::string> option_names(Command command);
/// Whether an option of the command, a name of option_names(), has a value, as --config has and --quiet has not.
bool takes_value(Command command, const std::string& option);

/// Parses the arguments of lacuna, without the program name. Throws UsageError.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace lacuna
