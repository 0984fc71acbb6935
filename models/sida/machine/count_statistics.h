// Statistics of pass counters, for an accelerator in a device and for runs without a device.
#pragma once

#include "models/common/config/statistics.h"
#include "models/sida/pipeline/pass_counts.h"

namespace lacuna::sida {

/// Adds the counters to a group. `counts` must outlive `group`.
void describe_counts(const PassCounts& counts, StatisticsGroup& group);
/// Adds values derived from the counters.
void describe_ratios(const PassCounts& counts, StatisticsGroup& group);

}  // namespace lacuna::sida
