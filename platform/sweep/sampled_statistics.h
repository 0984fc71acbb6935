// Confidence intervals of the statistics that sampled timing (gpu.timing = sampled) estimates.
//
// A run stores half of the 95 % confidence intervals of each kernel's cycles and energy. The half-widths h of other statistics
// follow from them:
//
//   kernels.NAME.cycles, other times, and counts of activity.*    value x half_width_cycles / cycles
//   kernels.NAME.energy.*                                         value x half_width_joules / joules
//   kernels.NAME.energy.energy_delay_js                           the sum of both, because the two errors have the same cause
//   run.simulated_ps, energy.DEVICE.whole|kernels.time_ps         sum over kernels of h of time_ps
//   energy.DEVICE.whole|kernels.joules                            sum over kernels of half_width_joules
//
// Numbers of dispatches, workgroups, wavefronts and instructions are exact. All other statistics have no interval: statistics
// of the tree cover the timed parts only, and the errors of values that a program prints are unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/sweep/results_database.h"
#include "platform/sweep/sqlite_database.h"

namespace lacuna {

/// A statistic of a point: its path in the database, and its value.
struct StoredStatistic {
  std::string path;
  double value = 0;
};

class SampledStatistics {
 public:
  /// `database` must outlive this object.
  explicit SampledStatistics(ResultsDatabase& database) : database_(database) {}

  /// Whether the statistic can have an interval; false if it has none in any run.
  static bool may_be_estimated(std::string_view path);
  /// Whether parts of a kernel of the point were not timed. Further queries are needed for such points only.
  bool has_estimates(std::int64_t point) { return !kernels_of(point).empty(); }
  /// Half-width of the interval of a statistic of the point; 0 if it is exact or has no interval.
  double half_width(std::int64_t point, const StoredStatistic& statistic);

 private:
  /// A kernel of which a part was not timed.
  struct Kernel {
    std::string prefix;       ///< "kernels.NAME."
    double time_share = 0;    ///< half-width of the cycles, as a share of them
    double energy_share = 0;  ///< half-width of the energy, as a share of it
    double picoseconds = 0;   ///< half-width of time_ps
    double joules = 0;        ///< half-width of the energy
  };

  /// Prepares the queries, before the first point.
  void prepare();
  const std::vector<Kernel>& kernels_of(std::int64_t point);
  double value_of(std::int64_t point, const std::string& path);

  ResultsDatabase& database_;
  std::optional<SqliteStatement> half_widths_;  ///< nonzero half-widths of a point's kernels; empty = the database has none
  std::optional<SqliteStatement> value_;
  std::map<std::int64_t, std::vector<Kernel>> kernels_;  ///< kernels of each point
};

}  // namespace lacuna
