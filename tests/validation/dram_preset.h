// DRAM channels for the DRAM validations: presets without the controller's own latency; hbm2() is HBM2 at 2 Gbit/s.
#pragma once

#include <filesystem>

#include "models/dram/dram_parameters.h"
#include "platform/configuration.h"
#include "platform/version.h"

namespace lacuna::validation {

/// `preset`: a file of configs/dram.
inline DramParameters dram_preset(const char* preset) {
  DramParameters parameters;
  ParameterSet set;
  set.describe("dram", parameters);
  Configuration(set).load(std::filesystem::path(kConfigurationFolder) / "dram" / preset);
  parameters.frontend_latency = Cycles{0};
  return parameters;
}
inline DramParameters hbm2() { return dram_preset("hbm2.cfg"); }

}  // namespace lacuna::validation
