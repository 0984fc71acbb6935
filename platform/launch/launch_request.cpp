#include "platform/launch/launch_request.h"

#include <string>
#include <utility>
#include <vector>

#include "platform/launch/launch_error.h"
#include "platform/launch/launch_program.h"
#include "platform/launch/text.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

LaunchKey assignment(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !is_identifier(trimmed(text.substr(0, equals))))
    throw UsageError(option + ' ' + text + ": must be NAME=VALUE");
  return {std::string(trimmed(text.substr(0, equals))), std::string(trimmed(text.substr(equals + 1))), 0};
}

/// Parses `--compare [BUFFER=]FILE`; returns the number of the argument that describes the buffer, and the file.
std::pair<std::size_t, std::string> compared_argument(const std::string& text, const std::vector<std::string>& arguments) {
  const std::size_t equals = text.find('=');
  const std::string which = equals == std::string::npos ? std::string() : text.substr(0, equals);
  const std::string file = equals == std::string::npos ? text : text.substr(equals + 1);
  std::vector<std::size_t> candidates;
  for (std::size_t number = 0; number < arguments.size(); ++number) {
    bool written = arguments[number].starts_with("out:") || arguments[number].starts_with("inout:");
    bool named = std::to_string(number) == which;
    for (const std::string& field : split_outside(arguments[number], ':')) {
      written = written || field.starts_with("save=");
      named = named || field == "name=" + which;
    }
    if (which.empty() ? written : named) candidates.push_back(number);
  }
  if (candidates.size() != 1)
    throw UsageError("--compare " + text + ": " +
                     (which.empty() ? std::to_string(candidates.size()) +
                                          " arguments are written to files; say which by --compare NUMBER=FILE"
                                    : "there is no argument " + which));
  return {candidates.front(), file};
}

/// Builds a program with the one dispatch that the options describe.
LaunchProgram command_line_program(const CommandLine& line) {
  LaunchProgram program;
  program.file = line.input;
  LaunchStatement code;
  code.kind = LaunchStatement::Kind::code;
  code.keys.push_back({"file", line.input, 0});
  program.statements.push_back(code);
  LaunchStatement dispatch;
  dispatch.kind = LaunchStatement::Kind::dispatch;
  std::vector<std::string> arguments;
  std::vector<std::string> comparisons;
  std::string tolerance;
  for (const auto& [option, value] : line.launch.values) {
    if (option == "define") throw UsageError("--define belongs to launch files");
    // Keys of launch files have underscores instead of dashes.
    const std::string name = option == "max-block" ? "max_block" : option;
    if (name != "arg" && name != "compare" && dispatch.key(name) != nullptr)
      throw UsageError("--" + option + " is given twice");
    if (name == "kernel") {
      if (!dispatch.name.empty()) throw UsageError("--kernel is given twice");
      dispatch.name = value;
    } else if (name == "compare") {
      comparisons.push_back(value);
    } else if (name == "tolerance") {
      tolerance = value;
    } else {
      if (name == "arg") arguments.push_back(value);
      dispatch.keys.push_back({name, value, 0});
    }
  }
  if (dispatch.name.empty()) {
    std::string list;
    const std::vector<CodeObject> objects = read_code_objects(line.input);
    for (const KernelMetadata& kernel : objects.front().kernels()) list += "\n  " + kernel.signature();
    throw UsageError("--kernel is missing; the kernels of " + line.input + " are" + list);
  }
  if ((dispatch.key("grid") == nullptr) == (dispatch.key("blocks") == nullptr))
    throw UsageError("--grid or --blocks, one of them, must be given");
  if (!tolerance.empty() && comparisons.empty()) throw UsageError("--tolerance without --compare");
  std::vector<std::pair<std::size_t, LaunchKey>> extra;
  for (const std::string& comparison : comparisons) {
    const auto [number, file] = compared_argument(comparison, arguments);
    extra.emplace_back(number, LaunchKey{"compare", file, 0});
    extra.emplace_back(number, LaunchKey{"tolerance", tolerance, 0});
  }
  add_dispatch(program, std::move(dispatch), "argument_", extra);
  return program;
}

LaunchProgram file_program(const CommandLine& line) {
  LaunchProgram program = parse_launch_file(line.input);
  for (const auto& [name, value] : line.launch.values) {
    if (name != "define")
      throw UsageError("--" + name + " belongs to the launch of a code object; " + line.input + " is a launch file");
    program.definitions.push_back(assignment(value, "--define"));
    bool known = false;
    for (const LaunchStatement& statement : program.statements)
      known = known ||
              (statement.kind == LaunchStatement::Kind::constants && statement.key(program.definitions.back().name) != nullptr);
    if (!known) throw UsageError("--define " + value + ": " + line.input + " has no such constant");
  }
  return program;
}

}  // namespace

LaunchSession requested_launch(const CommandLine& line) {
  // If the file has code objects for several targets, select the code object for the configured GPU.
  std::string target;
  for (const ConfigurationSource& source : line.configuration)
    if (!source.file && source.value.starts_with("gpu.target=")) target = source.value.substr(source.value.find('=') + 1);
  return LaunchSession(holds_code_objects(line.input) ? command_line_program(line) : file_program(line), target);
}

std::vector<ConfigurationSource> launch_configuration(const CommandLine& line, const LaunchSession& session) {
  std::vector<ConfigurationSource> sources = line.configuration;
  // A target that the user gives is applied later and overrides this one.
  sources.insert(sources.begin(), {false, "gpu.target=" + std::string(isa::traits(session.target()).name)});
  return sources;
}

}  // namespace lacuna
