// Counts of passes as statistics: of the accelerator in a device, and of a run without one.
#pragma once

#include "models/common/config/statistics.h"
#include "models/sida/pipeline/pass_counts.h"

namespace lacuna::sida {

/// Adds them to a group. The counts must outlive it.
void describe_counts(const PassCounts& counts, StatisticsGroup& group);

}  // namespace lacuna::sida
