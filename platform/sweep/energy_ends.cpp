#include "platform/sweep/energy_ends.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/sweep/statistic_path.h"

namespace lacuna {
namespace {

/// Names with ends, after "energy." of kernels and SIDA, and after the part of a device's energy.
constexpr std::array<std::string_view, 9> kWithEnds{"joules",  "mean_watts", "energy_delay_js", "blocks",        "total",
                                                    "compute", "memory",     "buffer",          "buffer_by_kind"};

/// Where the name with ends may begin in a path; npos: the path is not one of energy.
std::size_t place_of_name(std::string_view path) {
  constexpr std::string_view kOfDevice = "energy.";
  constexpr std::string_view kInside = ".energy.";
  if (path.starts_with(kOfDevice)) {
    const std::size_t part = path.find('.', kOfDevice.size());
    const std::size_t name = part == std::string_view::npos ? part : path.find('.', part + 1);
    return name == std::string_view::npos ? name : name + 1;
  }
  const std::size_t at = path.rfind(kInside);
  return at == std::string_view::npos ? at : at + kInside.size();
}

}  // namespace

std::optional<std::string> path_at(const std::string& path, EnergyBound end) {
  const std::size_t at = place_of_name(path);
  if (at == std::string::npos) return std::nullopt;
  const std::string name = path.substr(at, path.find('.', at) - at);
  if (std::find(kWithEnds.begin(), kWithEnds.end(), name) == kWithEnds.end()) return std::nullopt;
  std::string changed = path;
  return changed.insert(at, end == EnergyBound::low ? "low_" : "high_");
}

std::optional<Metric> metric_at(const Metric& metric, EnergyBound end) {
  bool any = false;
  const Metric changed = with_paths(metric, [&](StatisticPath path) {
    if (const auto other = path_at(path.path, end)) {
      any = true;
      path.path = *other;
    }
    return path;
  });
  return any ? std::optional(changed) : std::nullopt;
}

}  // namespace lacuna
