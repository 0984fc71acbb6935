#include "platform/run/run_parameters.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <set>
#include <sstream>

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

/// A warning if the energy parameters are for another machine than the configured presets; "" if they fit one of these presets,
/// or if no preset is configured.
std::string energies_of_another_machine(const EnergyParameters& energy, const std::vector<std::filesystem::path>& files) {
  if (!energy.on() || energy.fits.empty()) return {};
  std::istringstream words(energy.fits);
  const std::set<std::string> fits{std::istream_iterator<std::string>(words), {}};
  std::string machine;
  for (const std::filesystem::path& file : files) {
    const std::string preset = preset_name(file);
    if (preset.empty() || preset.starts_with("energy/") || preset.starts_with("dram/")) continue;
    if (fits.count(preset) != 0) return {};
    machine = preset;  // the last preset is that of the command line; files that it includes precede it
  }
  if (machine.empty()) return {};
  return "energies are of another machine: energy.fits = " + energy.fits + ", the configuration is " + machine +
         "; energies of events that the other machine does not have are 0";
}

/// Warnings that the presets among the sources would cause without the other sources. RunParameters does not show them, because
/// the values of presets are intended.
std::vector<std::string> warnings_of_presets(const std::vector<ConfigurationSource>& sources, Machine machine) {
  PlatformParameters parameters;
  ParameterSet set;
  parameters.describe(set, machine);
  Configuration configuration(set);
  for (const ConfigurationSource& source : sources) {
    if (!source.file) continue;
    const std::filesystem::path file = find_configuration(source.value, preset_folders());
    if (!preset_name(file).empty()) configuration.load(file);
  }
  return parameters.gpu.warnings();
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
  if (machine == Machine::hart) return;
  warnings_ = parameters_.gpu.warnings();
  if (!warnings_.empty()) {
    const std::vector<std::string> intended = warnings_of_presets(sources, machine);
    std::erase_if(warnings_, [&](const std::string& warning) {
      return std::find(intended.begin(), intended.end(), warning) != intended.end();
    });
  }
  if (std::string energies = energies_of_another_machine(parameters_.gpu.energy, configuration.files()); !energies.empty())
    warnings_.push_back(std::move(energies));
}

void RunParameters::write(std::ostream& out) const {
  out << "# Effective configuration, Lacuna " << kVersion << ". Give it to --config to run the same platform again.\n\n";
  write_configuration(used_, out);
}

}  // namespace lacuna
