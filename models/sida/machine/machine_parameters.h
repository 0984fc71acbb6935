// Parameters `sida.*` of the accelerator: its cores, buffer and control. Times are cycles of sida.clock.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/sida/pipeline/parameters.h"

namespace lacuna::sida {

struct MachineParameters {
  unsigned pes = PipelineParameters{}.os_pes;  ///< PEs of each core
  Bytes buffer{PipelineParameters{}.buffer_bytes};
  Frequency clock{1'000'000'000};
  PipelineParameters control;  ///< all other parameters of the pipeline; its cores and buffer size are not used

  void describe(ParameterSection& s);
  PipelineParameters pipeline() const;
};

}  // namespace lacuna::sida
