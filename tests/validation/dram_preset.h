// The channel that the DRAM validations are about: the preset HBM2 at 2 Gbit/s, without the controller's own latency.
#pragma once

#include <filesystem>

#include "models/dram/dram_parameters.h"
#include "platform/configuration.h"
#include "platform/version.h"

namespace lacuna::validation {

inline DramParameters hbm2() {
  DramParameters parameters;
  ParameterSet set;
  set.describe("dram", parameters);
  Configuration(set).load(std::filesystem::path(kConfigurationFolder) / "dram/hbm2.cfg");
  parameters.frontend_latency = Cycles{0};
  return parameters;
}

}  // namespace lacuna::validation
