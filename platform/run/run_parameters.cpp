#include "platform/run/run_parameters.h"

#include <ostream>

#include "platform/configuration.h"
#include "platform/version.h"

namespace lacuna {
namespace {

const char* unused_because(Machine machine) {
  switch (machine) {
    case Machine::hart:
      return "lacuna hart has no GPU";
    case Machine::firmware:
      return "only lacuna exec has GPUs for a process";
    case Machine::process:
      return "lacuna exec has no hart";
  }
  return "";
}

}  // namespace

RunParameters::RunParameters(const std::vector<ConfigurationSource>& sources, Machine machine) : machine_(machine) {
  parameters_.describe(used_, machine);
  PlatformParameters all;
  ParameterSet known;
  all.describe(known);
  Configuration configuration(used_, &known, unused_because(machine));
  for (const ConfigurationSource& source : sources) {
    if (source.file) {
      configuration.load(find_configuration(source.value, preset_folders()));
    } else {
      configuration.assign(source.value);
    }
  }
  std::string problems;
  for (const std::string& problem : parameters_.check(machine)) problems += (problems.empty() ? "" : "\n") + problem;
  if (!problems.empty()) throw ConfigurationError(problems);
}

void RunParameters::write(std::ostream& out) const {
  out << "# Effective configuration, Lacuna " << kVersion << ". Give it to --config to run the same platform again.\n\n";
  write_configuration(used_, out);
}

}  // namespace lacuna
