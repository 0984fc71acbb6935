// Parameters `sida.*`: the accelerator (models/sida/machine/machine_parameters.h) and its attachment to a device.
#pragma once

#include "models/common/config/parameters.h"
#include "models/sida/machine/machine_parameters.h"

namespace lacuna {

/// Attachment of the accelerator to memory.
enum class SidaPath : std::uint8_t {
  fabric,  ///< dedicated nodes in the network
  l2,      ///< a port at the node of each L2 bank, bypassing the network
  dram,    ///< a port at each DRAM channel, bypassing L2
};

/// Simulation of repeated passes: `sida.passes`.
enum class SidaPasses : std::uint8_t {
  detailed,  ///< every pass is simulated in detail, request by request
  bulk       ///< a repeated pass takes as long as its first execution while nothing else uses the memory
};

struct AcceleratorParameters {
  bool present = false;
  unsigned ports = 0;  ///< 0: one per memory partition
  unsigned lines_in_flight = 8192;
  SidaPath path = SidaPath::fabric;
  SidaPasses passes = SidaPasses::bulk;
  Cycles start_phase{0};
  sida::MachineParameters machine;

  void describe(ParameterSection& s);
};

}  // namespace lacuna
