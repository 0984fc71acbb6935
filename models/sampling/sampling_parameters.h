// Parameters of sampled timing (gpu.timing = sampled).
#pragma once

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

/// Treatment of the parts of a kernel that are not timed.
enum class UntimedParts : std::uint8_t {
  executed,  ///< their instructions execute: results are complete
  skipped,   ///< whole workgroups are skipped before they start: their results are not computed
};

struct SamplingParameters {
  double error = 0.02;
  double most_timed = 1;
  Cycles shortest{20'000};
  Cycles slice{512};
  unsigned slice_work = 12;
  unsigned slices = 8;
  Cycles settle{2048};
  unsigned settle_work = 64;
  bool across_kernels = true;
  bool within_workgroups = false;
  UntimedParts untimed = UntimedParts::executed;

  void describe(ParameterSection& s);
};

}  // namespace lacuna
