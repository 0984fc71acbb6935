// Configuration files and --set assignments applied to the parameters of a platform.
//
// A file is INI: `[section]` lines and `name = value` lines, `#` starts a comment; a parameter is `section.name`. Sources are
// applied in the order given and a later one wins. Anything that is not a parameter of the platform, is given twice in one
// file, or has a value that the parameter refuses is an error that says where, what and which value or name would be right.
//
// `include = FILE` above the first section reads another file at this place, so that what follows overrides it: a variant of a
// machine, or a kind of memory, is written once. FILE is relative to the folder of the file that includes it.
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

/// The user's configuration is wrong; what() is the whole message.
class ConfigurationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Configuration {
 public:
  /// `parameters` are what this run uses. Sections of `known` that are not among them are real but have no effect here: naming
  /// one is an error that says so (`unused_because`, for example "lacuna hart has no GPU").
  explicit Configuration(const ParameterSet& parameters, const ParameterSet* known = nullptr, std::string unused_because = {});

  /// Reads one file. Throws ConfigurationError.
  void load(const std::filesystem::path& file);
  /// Reads a file's text; `origin` stands for its name in messages.
  void load(std::istream& text, const std::string& origin);
  /// One assignment "section.name=value" from the command line. Throws ConfigurationError.
  void assign(std::string_view assignment);

 private:
  void apply(const std::string& name, const std::string& value, const std::string& where);
  void include(const std::string& file, const std::string& origin, const std::string& where);

  const ParameterSet& parameters_;
  const ParameterSet* known_;
  std::string unused_because_;
  IncludeStack open_;
};

/// The file that `--config name` means: a path, or the name of a preset ("r9nano", "dram/hbm2") in one of the directories.
/// Throws ConfigurationError naming the presets that exist.
std::filesystem::path find_configuration(const std::string& name, const std::vector<std::filesystem::path>& directories);

/// Writes every parameter so that Configuration::load() restores it exactly; parameters that differ from their default are
/// marked.
void write_configuration(const ParameterSet& parameters, std::ostream& out);

/// The table of `--list-params`.
void list_parameters(const ParameterSet& parameters, std::ostream& out);
/// docs/parameters.md.
void write_parameter_reference(const ParameterSet& parameters, std::ostream& out);

}  // namespace lacuna
