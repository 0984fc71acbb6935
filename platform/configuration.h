// Configuration files and --set assignments applied to the parameters of a platform.
//
// Files are in the INI format: `[section]` lines and `name = value` lines; `#` starts a comment. Parameters are named
// `section.name`. Sources are applied in the order given, and later sources override earlier ones. A name that is not a
// parameter of the platform or occurs twice in a file, or a value that the parameter refuses, is an error. The error message
// states the location, the problem, and the legal values or the nearest name.
//
// `include = FILE` above the first section inserts another file, whose values the following lines can override. Thus variants
// of a machine can share one file. FILE is relative to the folder of the file that includes it.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/config/parameters.h"
#include "platform/include_stack.h"

namespace lacuna {

/// The user's configuration is invalid; what() is the complete message.
class ConfigurationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Configuration {
 public:
  /// `parameters`: parameters that this run uses. The other sections of `known` have no effect in this run; setting a parameter
  /// of such a section is an error, whose message gives the reason `unused_because` (for example "lacuna hart has no GPU").
  explicit Configuration(const ParameterSet& parameters, const ParameterSet* known = nullptr, std::string unused_because = {});

  /// Reads a file and the files that it includes. Throws ConfigurationError.
  void load(const std::filesystem::path& file);
  /// Reads the text of a file; `origin`: its name in messages.
  void load(std::istream& text, const std::string& origin);
  /// Applies an assignment "section.name=value" from the command line. Throws ConfigurationError.
  void assign(std::string_view assignment);

  /// All files that have been read. An included file precedes the file that includes it.
  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  void apply(const std::string& name, const std::string& value, const std::string& where);
  void include(const std::string& file, const std::string& origin, const std::string& where);

  const ParameterSet& parameters_;
  const ParameterSet* known_;
  std::string unused_because_;
  IncludeStack open_;
  std::vector<std::filesystem::path> files_;
};

/// Returns the path of the file for `--config name`, where `name` is a path, or the name of a preset ("r9nano", "dram/hbm2") in
/// one of the directories. Throws ConfigurationError with the names of all presets.
std::filesystem::path find_configuration(const std::string& name, const std::vector<std::filesystem::path>& directories);

/// Writes all parameters such that Configuration::load() restores them exactly; parameters that differ from their default are
/// marked.
void write_configuration(const ParameterSet& parameters, std::ostream& out);

/// Writes the table of `--list-params`.
void list_parameters(const ParameterSet& parameters, std::ostream& out);
/// Writes docs/reference/parameters.md.
void write_parameter_reference(const ParameterSet& parameters, std::ostream& out);

}  // namespace lacuna
