// Parameters `sida.*`: the accelerator (models/sida/machine/machine_parameters.h) and its place in a device.
#pragma once

#include "models/common/config/parameters.h"
#include "models/sida/machine/machine_parameters.h"

namespace lacuna {

/// Way of the accelerator's requests to memory.
enum class SidaPath : std::uint8_t {
  fabric,  ///< nodes of its own in the network
  l2,      ///< a port beside the network at the node of each L2 bank
  dram,    ///< a port beside the network at each DRAM channel, past L2
};

/// Simulation of passes that repeat: `sida.passes`.
enum class SidaPasses : std::uint8_t {
  detailed,  ///< each by its requests
  bulk       ///< while nothing else uses the memory, a pass takes what it took the first time
};

struct AcceleratorParameters {
  bool present = false;
  unsigned ports = 0;  ///< 0: one for each memory partition
  SidaPath path = SidaPath::fabric;
  SidaPasses passes = SidaPasses::bulk;
  sida::MachineParameters machine;

  void describe(ParameterSection& s);
};

}  // namespace lacuna
