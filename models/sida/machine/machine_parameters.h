// Parameters `sida.*` of the accelerator: its cores, buffer and control. Times are cycles of sida.clock.
#pragma once

#include <cstdint>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/sida/pipeline/parameters.h"

namespace lacuna::sida {

struct MachineParameters {
  unsigned pes = 1024;
  Bytes buffer{std::uint64_t{64} << 20};
  Frequency clock{1'000'000'000};
  unsigned bytes_per_cycle = 512;
  unsigned memory_latency = 150;
  std::uint64_t sub_tensor = 0;
  CsrReserve csr_reserve = CsrReserve::element;
  Prefetch prefetch = Prefetch::stream;
  Balance balance = Balance::mean;
  Eager eager = Eager::automatic;
  Scatter scatter = Scatter::serial;

  void describe(ParameterSection& s);
  PipelineParameters pipeline() const;
};

}  // namespace lacuna::sida
