// Parameters of a run of the accelerator without a GPU: sections sida, cpu and energy.
#pragma once

#include <iosfwd>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/energy/energy_parameters.h"
#include "models/sida/machine/cpu.h"
#include "models/sida/machine/machine_parameters.h"
#include "platform/command_line.h"

namespace lacuna {

class SidaParameters {
 public:
  /// Applies defaults, then every configuration file and assignment in the given order. Throws ConfigurationError.
  explicit SidaParameters(const std::vector<ConfigurationSource>& sources);
  SidaParameters(const SidaParameters&) = delete;
  SidaParameters& operator=(const SidaParameters&) = delete;

  const sida::MachineParameters& machine() const { return machine_; }
  const sida::CpuParameters& cpu() const { return cpu_; }
  /// Energies at the configured operating point (EnergyParameters::at_operating_point()).
  const EnergyParameters& energy() const { return operating_; }
  /// The same with every energy at this end of its interval.
  const EnergyParameters& energy(EnergyBound end) const { return end == EnergyBound::low ? low_ : high_; }
  const ParameterSet& set() const { return set_; }
  /// Writes the text of effective.cfg.
  void write(std::ostream& out) const;

 private:
  sida::MachineParameters machine_;
  sida::CpuParameters cpu_;
  EnergyParameters energy_;
  EnergyParameters operating_;
  EnergyParameters low_;
  EnergyParameters high_;
  ParameterSet set_;
};

}  // namespace lacuna
