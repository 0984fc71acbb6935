// Parameters of ROCm support (drivers/rocm), in addition to those of a GPU.
#pragma once

#include <string>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/isa/target.h"

namespace lacuna {

struct RocmParameters {
  std::string gpus{};
  bool sdma = true;
  bool fine_grained_host_memory = false;
  Tick longest_sleep{3'000'000'000};
  Tick host_patience{1'000'000'000'000};
  Tick notice_after{10'000'000'000'000};

  void describe(ParameterSection& section);
  /// Instruction sets of the GPUs, in order of their nodes: those of `gpus`, or only `one` if `gpus` is empty. Throws
  /// std::invalid_argument if a name is unknown or there are too many names.
  std::vector<isa::Target> targets(isa::Target one) const;
  /// Name of the parameter that determines the targets.
  const char* target_parameter() const { return gpus.empty() ? "gpu.target" : "rocm.gpus"; }
};

/// Whether the environment makes the runtime hide GPUs from the program.
bool runtime_hides_gpus();

}  // namespace lacuna
