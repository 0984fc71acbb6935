#include "platform/configuration.h"

#include <algorithm>
#include <array>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

namespace po = boost::program_options;

namespace lacuna {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The section that a line opens, as Boost.Program_options reads it; empty if none.
std::string_view opened_section(std::string_view line) {
  const std::string_view text = trimmed(line.substr(0, line.find('#')));
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return {};
  return trimmed(text.substr(1, text.size() - 2));
}

/// Derived quantities that users may try to set, with the parameters that determine them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kDerived{
    {{"dram.bandwidth",
      "it is dram.clock x dram.bytes_per_cycle x dram.pseudo_channels x gpu.memory_partitions. Set dram.clock or "
      "gpu.memory_partitions; with dram.bytes_per_cycle also shorten dram.burst, dram.tCCDS and dram.tCCDL, so that a burst is "
      "no longer than l2.sector and takes no less than dram.tCCDS"},
     {"l2.bandwidth", "it is l2.clock x l2.ports x l2.banks x l2.sector x gpu.memory_partitions"},
     {"noc.bandwidth", "of a node it is noc.clock x noc.width"}}};

std::string suggestion(const ParameterSet& set, std::string_view name) {
  const auto derived = std::find_if(kDerived.begin(), kDerived.end(), [name](const auto& d) { return d.first == name; });
  if (derived != kDerived.end()) return ": " + std::string(derived->second);
  const std::string nearest = set.nearest(name);
  return nearest.empty() ? "; `lacuna --list-params` lists all" : "; did you mean " + nearest + "?";
}

}  // namespace

Configuration::Configuration(const ParameterSet& parameters, const ParameterSet* known, std::string unused_because)
    : parameters_(parameters), known_(known), unused_because_(std::move(unused_because)) {}

void Configuration::apply(const std::string& name, const std::string& value, const std::string& where) {
  Parameter* const parameter = parameters_.find(name);
  if (parameter == nullptr) {
    if (known_ != nullptr && known_->find(name) != nullptr)
      throw ConfigurationError(where + "parameter " + name + " is not used here: " + unused_because_);
    throw ConfigurationError(where + "unknown parameter " + name + suggestion(known_ != nullptr ? *known_ : parameters_, name));
  }
  if (const auto reason = parameter->parse(value)) {
    const std::string legal = parameter->legal();
    const bool says_legal = legal.empty() || reason->find(legal) != std::string::npos;
    throw ConfigurationError(where + name + " = " + value + ": " + *reason + (says_legal ? "" : " (legal: " + legal + ")"));
  }
}

void Configuration::load(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(file, status)) throw ConfigurationError(file.string() + ": no such configuration file");
  std::ifstream stream(file);
  if (!stream) throw ConfigurationError(file.string() + ": cannot be read");
  const IncludeStack::Reading reading(open_, file);
  load(stream, file.string());
  files_.push_back(file);
}

void Configuration::include(const std::string& file, const std::string& origin, const std::string& where) {
  std::filesystem::path path;
  try {
    path = open_.find(origin, file);
  } catch (const IncludeError& e) {
    throw ConfigurationError(where + e.what());
  }
  load(path);
}

void Configuration::load(std::istream& text, const std::string& origin) {
  // Boost.Program_options reports no line numbers, so lines are parsed one by one, each with the header of its section.
  const po::options_description nothing_registered;
  std::string line;
  std::string section;
  std::map<std::string, unsigned> line_of_name;
  for (unsigned number = 1; std::getline(text, line); ++number) {
    const std::string where = origin + ':' + std::to_string(number) + ": ";
    if (const std::string_view opened = opened_section(line); !opened.empty()) {
      section = opened;
      continue;
    }
    std::istringstream one_line((section.empty() ? "" : '[' + section + "]\n") + line + '\n');
    po::parsed_options parsed(&nothing_registered);
    try {
      parsed = po::parse_config_file(one_line, nothing_registered, true);
    } catch (const po::error&) {
      throw ConfigurationError(where + '"' + std::string(trimmed(line)) + "\" is neither [section] nor name = value");
    }
    for (const po::option& option : parsed.options) {
      if (section.empty() && option.string_key == "include" && !option.value.empty()) {
        include(option.value.front(), origin, where);
        continue;
      }
      const auto [earlier, is_new] = line_of_name.emplace(option.string_key, number);
      if (!is_new)
        throw ConfigurationError(where + "parameter " + option.string_key + " is given twice, first in line " +
                                 std::to_string(earlier->second));
      apply(option.string_key, option.value.empty() ? std::string() : option.value.front(), where);
    }
  }
}

void Configuration::assign(std::string_view assignment) {
  const std::string where = "--set " + std::string(assignment) + ": ";
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) throw ConfigurationError(where + "must be section.name=value");
  apply(std::string(trimmed(assignment.substr(0, equals))), std::string(trimmed(assignment.substr(equals + 1))), where);
}

std::filesystem::path find_configuration(const std::string& name, const std::vector<std::filesystem::path>& directories) {
  namespace fs = std::filesystem;
  std::error_code status;
  if (fs::is_regular_file(name, status)) return name;
  std::set<std::string> presets;
  for (const fs::path& directory : directories) {
    for (const std::string& candidate : {name, name + ".cfg"})
      if (fs::is_regular_file(directory / candidate, status)) return directory / candidate;
    for (const auto& entry : fs::recursive_directory_iterator(directory, status)) {
      if (entry.path().extension() == ".cfg")
        presets.insert(entry.path().lexically_relative(directory).replace_extension().string());
    }
  }
  std::string message = "--config " + name + ": no such file";
  if (!presets.empty()) {
    message += "; presets:";
    for (const std::string& preset : presets) message += ' ' + preset;
  }
  throw ConfigurationError(message);
}

void write_configuration(const ParameterSet& parameters, std::ostream& out) {
  for (const auto& section : parameters.sections()) {
    out << '[' << section->name() << "]\n";
    for (const auto& parameter : section->parameters()) {
      const std::string value = parameter->text();
      out << parameter->name.substr(section->name().size() + 1) << " = " << value;
      if (value != parameter->default_text) out << "  # default " << parameter->default_text;
      out << '\n';
    }
    out << '\n';
  }
}

void list_parameters(const ParameterSet& parameters, std::ostream& out) {
  for (const auto& section : parameters.sections()) {
    for (const auto& parameter : section->parameters()) {
      const std::string unit = parameter->unit();
      const std::string legal = parameter->legal();
      out << parameter->name << " = " << parameter->default_text << "  (" << parameter->type_name()
          << (unit.empty() ? "" : ", unit " + unit) << (legal.empty() ? "" : ", legal " + legal) << ")\n    "
          << parameter->description << '\n';
      if (!parameter->source.empty()) out << "    source: " << parameter->source << '\n';
    }
  }
}

namespace {

/// Escapes a text for a cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, 1, '\\');
  return text;
}

}  // namespace

void write_parameter_reference(const ParameterSet& parameters, std::ostream& out) {
  for (const auto& section : parameters.sections()) {
    out << "\n## " << section->name() << "\n\n"
        << "| parameter | type | unit | default | legal | description | source of the default |\n"
        << "|---|---|---|---|---|---|---|\n";
    for (const auto& parameter : section->parameters()) {
      out << "| `" << parameter->name << "` | " << parameter->type_name() << " | " << cell(parameter->unit()) << " | "
          << (parameter->default_text.empty() ? "" : '`' + parameter->default_text + '`') << " | " << cell(parameter->legal())
          << " | " << cell(parameter->description) << " | " << cell(parameter->source) << " |\n";
    }
  }
}

}  // namespace lacuna
