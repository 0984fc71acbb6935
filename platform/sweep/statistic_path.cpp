#include "platform/sweep/statistic_path.h"

#include <algorithm>

#include "models/common/config/nearest_name.h"
#include "platform/launch/text.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

bool names(const NamedValues& values, const std::string& name) {
  return std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
}

std::vector<std::vector<SweepAxis>> groups_of(const SweepFile& sweep) {
  std::vector<std::vector<SweepAxis>> groups = sweep.axes;
  for (const SweepAxis& repeat : sweep.repeats) groups.push_back({repeat});
  return groups;
}

/// Indices into the values of a group of axes, which vary together: those at which each axis that the reference names has the
/// reference's value.
std::vector<std::size_t> places(const std::vector<SweepAxis>& group, const NamedValues& reference) {
  std::vector<std::size_t> found;
  for (const auto& [name, value] : reference) {
    const auto axis =
        std::find_if(group.begin(), group.end(), [&, &wanted = name](const SweepAxis& a) { return a.name == wanted; });
    if (axis == group.end()) continue;
    if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end())
      throw SweepError("axis " + name + " has no value " + value + did_you_mean(nearest_name(axis->values, value)));
  }
  for (std::size_t at = 0; at < group.front().values.size(); ++at) {
    const bool all = std::all_of(group.begin(), group.end(), [&](const SweepAxis& axis) {
      return std::all_of(reference.begin(), reference.end(),
                         [&](const auto& wanted) { return wanted.first != axis.name || wanted.second == axis.values[at]; });
    });
    if (all) found.push_back(at);
  }
  return found;
}

StatisticPath path_with_zipped_axes(const StatisticPath& path, const SweepFile& sweep) {
  StatisticPath whole = path;
  std::vector<std::string> known;
  for (const auto& group : groups_of(sweep)) {
    for (const SweepAxis& axis : group) known.push_back(axis.name);
    const bool named =
        std::any_of(group.begin(), group.end(), [&](const SweepAxis& axis) { return names(path.reference, axis.name); });
    if (!named) continue;
    const std::vector<std::size_t> found = places(group, path.reference);
    if (found.empty()) throw SweepError("no place of the [zip] has all values given after @");
    for (const SweepAxis& axis : group) {
      if (names(path.reference, axis.name)) continue;
      const std::string& value = axis.values[found.front()];
      if (std::any_of(found.begin(), found.end(), [&](std::size_t at) { return axis.values[at] != value; }))
        throw SweepError("the values after @ include several of " + axis.name + ", name one");
      whole.reference.emplace_back(axis.name, value);
    }
  }
  for (const auto& [name, value] : path.reference)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw SweepError("there is no axis " + name + did_you_mean(nearest_name(known, name)));
  return whole;
}

}  // namespace

StatisticPath StatisticPath::parse(std::string_view text) {
  const std::size_t at = text.find('@');
  StatisticPath result{std::string(trimmed(text.substr(0, at))), {}};
  if (at == std::string_view::npos) return result;
  for (const std::string& part : split_outside(text.substr(at + 1), ',')) {
    const std::size_t equals = part.find('=');
    const std::string name(trimmed(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || name.empty())
      throw SweepError("after @ there must be NAME=VALUE, several separated by commas: " + std::string(trimmed(part)));
    if (names(result.reference, name)) throw SweepError(name + " is given twice after @");
    result.reference.emplace_back(name, trimmed(std::string_view(part).substr(equals + 1)));
  }
  return result;
}

std::string StatisticPath::text() const {
  std::string text = path;
  for (std::size_t i = 0; i < reference.size(); ++i)
    text += (i == 0 ? " @ " : ", ") + reference[i].first + '=' + reference[i].second;
  return text;
}

NamedValues reference_values(NamedValues values, const NamedValues& reference) {
  for (auto& [name, value] : values)
    for (const auto& [wanted, other] : reference)
      if (name == wanted) value = other;
  return values;
}

Metric with_paths(const Metric& metric, const std::function<StatisticPath(StatisticPath)>& change) {
  const auto changed = [&](std::string_view path) { return change(StatisticPath::parse(path)).text(); };
  if (metric.text.find('{') == std::string::npos) return {metric.name, changed(metric.text)};
  Metric result{metric.name, {}};
  for (const TextPart& part : parts_of(metric.text))
    result.text += part.braced ? '{' + changed(part.text) + '}' : std::string(part.text);
  return result;
}

Metric with_zipped_axes(const Metric& metric, const SweepFile& sweep) {
  return with_paths(metric, [&](const StatisticPath& path) { return path_with_zipped_axes(path, sweep); });
}

}  // namespace lacuna
