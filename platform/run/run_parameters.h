// The parameters of one run: defaults, then every configuration file and assignment in the order given.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "models/common/config/parameters.h"
#include "platform/command_line.h"
#include "platform/platform_parameters.h"
#include "platform/preset_folders.h"

namespace lacuna {

class RunParameters {
 public:
  /// Applies the sources to the parameters of a machine. Throws ConfigurationError.
  RunParameters(const std::vector<ConfigurationSource>& sources, Machine machine);
  RunParameters(const RunParameters&) = delete;
  RunParameters& operator=(const RunParameters&) = delete;

  const PlatformParameters& values() const { return parameters_; }
  Machine machine() const { return machine_; }
  /// Warnings about settings that the user probably did not intend: energy parameters of another machine, and
  /// GpuDeviceParameters::warnings() except those that the presets alone cause.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Writes effective.cfg. `--config effective.cfg` reproduces the same machine.
  void write(std::ostream& out) const;

 private:
  Machine machine_;
  PlatformParameters parameters_;
  ParameterSet used_;
  std::vector<std::string> warnings_;
};

}  // namespace lacuna
