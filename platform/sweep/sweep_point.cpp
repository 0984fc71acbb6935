#include "platform/sweep/sweep_point.h"

#include <algorithm>
#include <utility>

#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

/// Maximum number of points: more than can be run in practice.
constexpr std::size_t kMostPoints = 10'000'000;

NamedValues substituted(const std::vector<SweepKey>& keys, const NamedValues& values) {
  NamedValues result;
  for (const SweepKey& key : keys) result.emplace_back(key.name, substitute_values(key.value, values));
  return result;
}

std::vector<std::string> substituted_texts(const std::vector<SweepKey>& keys, const NamedValues& values) {
  std::vector<std::string> result;
  result.reserve(keys.size());
  for (const SweepKey& key : keys) result.push_back(substitute_values(key.value, values));
  return result;
}

bool holds_at(const SweepKey& condition, const NamedValues& values) {
  try {
    return holds(condition.value, values);
  } catch (const SweepError& e) {
    throw SweepError(condition.place.text() + condition.name + " = " + condition.value + ": " + e.what() + " (at " +
                     label(values) + ')');
  }
}

bool left_out(const SweepFile& sweep, const NamedValues& values) {
  if (sweep.overnight_only && !holds_at(sweep.overnight.value(), values)) return true;
  return std::any_of(sweep.leave_out.begin(), sweep.leave_out.end(),
                     [&](const SweepKey& condition) { return holds_at(condition, values); });
}

void fill_in(const SweepFile& sweep, SweepPoint& point) {
  const NamedValues values = point.values();
  point.program = substitute_values(sweep.program.value, values);
  point.arguments = substituted_texts(sweep.arguments, values);
  point.configurations = substituted_texts(sweep.configurations, values);
  point.inputs = substituted_texts(sweep.inputs, values);
  point.settings = substituted(sweep.settings, values);
  for (const auto& [name, value] : values)
    if (name.find('.') != std::string::npos) point.settings.emplace_back(name, value);
  point.options = substituted(sweep.options, values);
  point.environment = substituted(sweep.environment, values);
}

}  // namespace

NamedValues SweepPoint::values() const {
  NamedValues all = axes;
  all.insert(all.end(), repeats.begin(), repeats.end());
  return all;
}

std::string label(const NamedValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + '=' + value;
  return text;
}

std::vector<SweepPoint> expand(const SweepFile& sweep) {
  // Repetitions are the last groups and vary fastest, so that the samples of a value are adjacent.
  std::vector<std::vector<SweepAxis>> groups = sweep.axes;
  for (const SweepAxis& repeat : sweep.repeats) groups.push_back({repeat});
  double combinations = 1;
  for (const auto& group : groups) combinations *= static_cast<double>(group.front().values.size());
  if (combinations > static_cast<double>(kMostPoints))
    throw SweepError(sweep.file.string() + ": the axes have more than 10 million combinations");

  std::vector<SweepPoint> points;
  std::vector<std::size_t> at(groups.size(), 0);
  for (bool more = true; more;) {
    SweepPoint point;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const SweepAxis& axis : groups[g])
        (g < sweep.axes.size() ? point.axes : point.repeats).emplace_back(axis.name, axis.values[at[g]]);
    if (!left_out(sweep, point.values())) {
      point.number = points.size() + 1;
      fill_in(sweep, point);
      points.push_back(std::move(point));
    }
    more = false;
    for (std::size_t g = groups.size(); g-- > 0 && !more;) {
      more = ++at[g] < groups[g].front().values.size();
      if (!more) at[g] = 0;
    }
  }
  if (points.empty()) {
    const SweepKey& condition = sweep.leave_out.empty() ? sweep.overnight.value() : sweep.leave_out.front();
    throw SweepError(condition.place.text() + "the conditions leave no point");
  }
  return points;
}

}  // namespace lacuna
