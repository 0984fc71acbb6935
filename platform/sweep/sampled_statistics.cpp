#include "platform/sweep/sampled_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "platform/sweep/condition.h"

namespace lacuna {
namespace {

constexpr std::string_view kKernelPaths = "kernels.";
constexpr std::string_view kHalfWidthColumn = "half_width_cycles";

/// The interval of a kernel from which the interval of a statistic is derived.
enum class Estimate : std::uint8_t { none, time, energy, energy_delay };

/// `column`: the part of the path after "kernels.NAME.".
Estimate estimate_of_kernel(std::string_view column) {
  constexpr std::array<std::string_view, 6> kTimes{"cycles",  "least_cycles", "most_cycles",
                                                   "time_ps", "shortest_ps",  "longest_ps"};
  if (std::find(kTimes.begin(), kTimes.end(), column) != kTimes.end()) return Estimate::time;
  if (column.starts_with("activity.")) return column.starts_with("activity.issued.") ? Estimate::none : Estimate::time;
  if (!column.starts_with("energy.") || column == "energy.half_width_joules") return Estimate::none;
  return column == "energy.energy_delay_js" ? Estimate::energy_delay : Estimate::energy;
}

/// Estimate of a statistic outside of "kernels.", such as "energy.DEVICE.whole.joules". Energy and time of idle phases are not
/// estimated.
Estimate estimate_of_run(std::string_view path) {
  if (path == "run.simulated_ps") return Estimate::time;
  if (!path.starts_with("energy.")) return Estimate::none;
  for (const std::string_view part : {".whole", ".kernels"}) {
    const std::size_t at = path.rfind('.');
    if (!path.substr(0, at).ends_with(part)) continue;
    if (path.substr(at) == ".time_ps") return Estimate::time;
    if (path.substr(at) == ".joules") return Estimate::energy;
  }
  return Estimate::none;
}

double share_of(double half_width, double value) { return value == 0 ? 0 : half_width / std::fabs(value); }

}  // namespace

void SampledStatistics::prepare() {
  std::string list;
  SqliteStatement names = database_.connection().prepare("SELECT id FROM statistic_names WHERE path GLOB 'kernels.*." +
                                                         std::string(kHalfWidthColumn) + '\'');
  while (names.step()) add_to_list(list, std::to_string(names.integer(0)), ",");
  if (list.empty()) return;
  half_widths_ = database_.connection().prepare(
      "SELECT path, value FROM statistics JOIN statistic_names ON id = name WHERE point = ? AND value > 0 AND name IN (" +
      list + ')');
  value_ = database_.connection().prepare(
      "SELECT value FROM statistics WHERE point = ? AND name = (SELECT id FROM statistic_names WHERE path = ?)");
}

bool SampledStatistics::may_be_estimated(std::string_view path) {
  // A kernel's name may contain dots, so the column cannot be found without the runs of a database.
  return path.starts_with(kKernelPaths) || estimate_of_run(path) != Estimate::none;
}

double SampledStatistics::half_width(std::int64_t point, const StoredStatistic& statistic) {
  const std::vector<Kernel>& kernels = kernels_of(point);
  const auto sum = [&](double Kernel::*part) {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                           [part](double total, const Kernel& kernel) { return total + kernel.*part; });
  };
  if (!statistic.path.starts_with(kKernelPaths)) {
    const Estimate estimate = estimate_of_run(statistic.path);
    return estimate == Estimate::time ? sum(&Kernel::picoseconds) : estimate == Estimate::energy ? sum(&Kernel::joules) : 0;
  }
  for (const Kernel& kernel : kernels) {
    if (!statistic.path.starts_with(kernel.prefix)) continue;
    const Estimate estimate = estimate_of_kernel(std::string_view(statistic.path).substr(kernel.prefix.size()));
    if (estimate == Estimate::none) continue;
    double share = estimate == Estimate::time ? kernel.time_share : kernel.energy_share;
    if (estimate == Estimate::energy_delay) share += kernel.time_share;
    return share * std::fabs(statistic.value);
  }
  return 0;
}

const std::vector<SampledStatistics::Kernel>& SampledStatistics::kernels_of(std::int64_t point) {
  if (kernels_.empty()) prepare();
  const auto [found, is_new] = kernels_.try_emplace(point);
  if (!is_new || !half_widths_) return found->second;
  half_widths_->bind(point);
  while (half_widths_->step()) {
    const std::string path = half_widths_->text(0);
    const double cycles = half_widths_->real(1);
    Kernel& kernel = found->second.emplace_back();
    kernel.prefix = path.substr(0, path.size() - kHalfWidthColumn.size());
    kernel.time_share = share_of(cycles, value_of(point, kernel.prefix + "cycles"));
    kernel.picoseconds = kernel.time_share * value_of(point, kernel.prefix + "time_ps");
    kernel.joules = value_of(point, kernel.prefix + "energy.half_width_joules");
    kernel.energy_share = share_of(kernel.joules, value_of(point, kernel.prefix + "energy.joules"));
  }
  return found->second;
}

double SampledStatistics::value_of(std::int64_t point, const std::string& path) {
  value_->bind(point).bind(path);
  const double value = value_->step() ? value_->real(0) : 0;
  value_->reset();
  return value;
}

}  // namespace lacuna
