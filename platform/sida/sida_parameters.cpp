#include "platform/sida/sida_parameters.h"

#include <ostream>

#include "platform/configuration.h"
#include "platform/preset_folders.h"
#include "platform/version.h"

namespace lacuna {

SidaParameters::SidaParameters(const std::vector<ConfigurationSource>& sources) {
  set_.describe("sida", machine_);
  set_.describe("cpu", cpu_);
  set_.describe("energy", energy_);
  Configuration configuration(set_);
  for (const ConfigurationSource& source : sources) {
    if (source.file) {
      configuration.load(find_configuration(source.value, preset_folders()));
    } else {
      configuration.assign(source.value);
    }
  }
  std::string problems;
  for (const std::string& problem : energy_.check()) problems += (problems.empty() ? "" : "\n") + problem;
  if (!problems.empty()) throw ConfigurationError(problems);
  operating_ = energy_.at_operating_point();
  low_ = energy_.bound(EnergyBound::low).at_operating_point();
  high_ = energy_.bound(EnergyBound::high).at_operating_point();
}

void SidaParameters::write(std::ostream& out) const {
  out << "# Effective configuration, Lacuna " << kVersion
      << ". Give it to lacuna sida run --config to run the same machine again.\n\n";
  write_configuration(set_, out);
}

}  // namespace lacuna
