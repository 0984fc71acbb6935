#include "platform/sweep/stored_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/energy_ends.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

SqliteStatement select_points(ResultsDatabase& database, std::string_view from) {
  std::string sql =
      std::string(
          "SELECT members.axes, members.repeats, members.key, points.id, points.state, points.exit_code, points.seconds, "
          "points.version, points.commit_id, points.host, points.date, points.run_hash, points.command, points.log, ") +
      database.cause_column() + " FROM members ";
  sql += from;
  return database.connection().prepare(sql);
}

StoredPoint point_of(const SqliteStatement& row) {
  StoredPoint point;
  point.axes = values_of_json(row.text(0));
  point.repeats = values_of_json(row.text(1));
  point.key = row.text(2);
  if (row.is_null(3)) return point;
  point.id = row.integer(3);
  point.state = state_of_name(row.text(4));
  point.exit_code = static_cast<int>(row.integer(5));
  point.seconds = row.real(6);
  point.version = row.text(7);
  point.commit = row.text(8);
  point.host = row.text(9);
  point.date = row.text(10);
  point.run_hash = row.text(11);
  point.command = row.text(12);
  point.log = row.text(13);
  point.cause = row.text(14);
  return point;
}

std::vector<StoredPoint> points_of(SqliteStatement& statement) {
  std::vector<StoredPoint> points;
  while (statement.step()) points.push_back(point_of(statement));
  return points;
}

/// The last run of each point of the sweep by the build `version`.
std::vector<StoredPoint> points_of_build(ResultsDatabase& database, std::int64_t sweep, const std::string& version) {
  SqliteStatement rows =
      select_points(database,
                    "JOIN points ON points.key = members.key WHERE members.sweep = ? AND (points.version = ? "
                    "OR substr(points.commit_id, 1, length(?)) = ?) ORDER BY members.position, points.id");
  rows.bind(sweep).bind(version).bind(version).bind(version);
  std::vector<StoredPoint> all = points_of(rows);
  std::map<std::string, std::size_t> places;
  std::vector<StoredPoint> last;
  for (StoredPoint& point : all) {
    const auto [place, is_new] = places.try_emplace(place_of(point.axes, point.repeats), last.size());
    if (is_new) {
      last.push_back(std::move(point));
    } else {
      last[place->second] = std::move(point);
    }
  }
  return last;
}

std::vector<std::pair<std::int64_t, std::string>> names_of(ResultsDatabase& database, const std::string& path) {
  std::vector<std::pair<std::int64_t, std::string>> names;
  // Paths of kernels are matched as patterns, because a kernel has two names.
  const bool exact = path.find_first_of("*?[") == std::string::npos && !path.starts_with("kernels.");
  SqliteStatement rows = database.connection().prepare(exact ? "SELECT id, path FROM statistic_names WHERE path = ?"
                                                             : "SELECT id, path FROM statistic_names ORDER BY id");
  if (exact) rows.bind(path);
  while (rows.step())
    if (path_matches(path, rows.text(1))) names.emplace_back(rows.integer(0), rows.text(1));
  return names;
}

}  // namespace

std::string place_of(const NamedValues& axes, const NamedValues& repeats) { return to_json(axes) + to_json(repeats); }

MetricValues::MetricValues(ResultsDatabase& database, const std::vector<Metric>& metrics,
                           const std::vector<StoredPoint>& points)
    : sampled_(database) {
  for (const StoredPoint& point : points)
    if (point.is_done()) done_[place_of(point.axes, point.repeats)] = point.id;
  for (const Metric& metric : metrics) {
    for (const std::string& text : metric.paths()) {
      const auto [found, is_new] = paths_.try_emplace(text);
      if (!is_new) continue;
      Path& path = found->second;
      path.parsed = StatisticPath::parse(text);
      std::string list;
      std::string estimates;
      for (const auto& [id, name] : names_of(database, path.parsed.path)) {
        add_to_list(list, std::to_string(id), ",");
        if (SampledStatistics::may_be_estimated(name)) add_to_list(estimates, std::to_string(id), ",");
      }
      if (list.empty()) continue;
      path.sum = database.connection().prepare("SELECT total(value), count(*) FROM statistics WHERE point = ? AND name IN (" +
                                               list + ')');
      if (estimates.empty()) continue;
      path.estimates = database.connection().prepare(
          "SELECT path, value FROM statistics JOIN statistic_names ON id = name WHERE point = ? AND name IN (" + estimates +
          ')');
    }
  }
}

std::optional<MetricValue> MetricValues::value(const Metric& metric, const StoredPoint& point) {
  if (!point.is_done()) return std::nullopt;
  std::vector<Input> inputs;
  const auto value = metric.value([&](const std::string& text) -> std::optional<double> {
    const std::optional<Input> found = input(text, point);
    if (!found) return std::nullopt;
    inputs.push_back(*found);
    return found->sum;
  });
  if (!value) return std::nullopt;
  return MetricValue{*value, half_width(metric, *value, inputs)};
}

std::optional<MetricValues::Input> MetricValues::input(const std::string& text, const StoredPoint& point) {
  Path& path = paths_.at(text);
  if (!path.sum) return std::nullopt;
  Input input{.text = text, .point = point.id, .path = path.parsed.path};
  if (const NamedValues& reference = path.parsed.reference; !reference.empty()) {
    const auto found =
        done_.find(place_of(reference_values(point.axes, reference), reference_values(point.repeats, reference)));
    if (found == done_.end()) return std::nullopt;
    input.point = found->second;
  }
  path.sum->bind(input.point).step();
  const bool has_value = path.sum->integer(1) != 0;
  input.sum = path.sum->real(0);
  path.sum->reset();
  if (!has_value) return std::nullopt;
  input.half_width = half_width(path, input.point);
  return input;
}

double MetricValues::half_width(Path& path, std::int64_t point) {
  if (!path.estimates || !sampled_.has_estimates(point)) return 0;
  double sum = 0;
  path.estimates->bind(point);
  while (path.estimates->step()) sum += sampled_.half_width(point, {path.estimates->text(0), path.estimates->real(1)});
  return sum;
}

double MetricValues::half_width(const Metric& metric, double value, const std::vector<Input>& inputs) {
  if (inputs.size() == 1 && inputs.front().text == metric.text) return inputs.front().half_width;  // no expression
  // Evaluates the metric with one statistic changed, wherever it is used.
  const auto change_by = [&](const Input& moved, double distance) -> std::optional<double> {
    const auto result = metric.value([&](const std::string& text) -> std::optional<double> {
      const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const Input& one) { return one.text == text; });
      return input->is_same_statistic(moved) ? input->sum + distance : input->sum;
    });
    return result ? std::optional(*result - value) : std::nullopt;
  };
  double squares = 0;
  for (auto input = inputs.begin(); input != inputs.end(); ++input) {
    const bool is_first =
        std::none_of(inputs.begin(), input, [&](const Input& earlier) { return earlier.is_same_statistic(*input); });
    if (input->half_width == 0 || !is_first) continue;
    std::optional<double> change = change_by(*input, input->half_width);
    if (!change) change = change_by(*input, -input->half_width);
    squares += change.value_or(0) * change.value_or(0);
  }
  return std::sqrt(squares);
}

std::size_t PointGroup::done() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const StoredPoint& point) { return point.is_done(); }));
}

SweepSelection SweepSelection::parse(const std::string& text) {
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return {text, {}};
  if (at == 0 || at + 1 == text.size()) throw SweepError('"' + text + "\" is not SWEEP@VERSION");
  return {text.substr(0, at), text.substr(at + 1)};
}

StoredSweep find_sweep(ResultsDatabase& database, const std::string& name) {
  std::vector<std::string> names;
  for (StoredSweep& sweep : database.sweeps()) {
    if (sweep.name == name) return std::move(sweep);
    names.push_back(sweep.name);
  }
  std::string list;
  for (const std::string& known : names) add_to_list(list, known);
  throw SweepError(database.file().string() + ": has no sweep " + name + did_you_mean(nearest_name(names, name)) +
                   (list.empty() ? "; it has none" : "; it has " + list));
}

std::vector<PointGroup> load_points(ResultsDatabase& database, const SweepSelection& selection,
                                    const std::vector<Metric>& metrics, const std::vector<std::string>& conditions) {
  const StoredSweep sweep = find_sweep(database, selection.sweep);
  database.require_intact(sweep.id);
  std::vector<StoredPoint> points;
  if (selection.version.empty()) {
    SqliteStatement rows = select_points(
        database,
        "LEFT JOIN points ON points.key = members.key WHERE members.sweep = ? AND members.current ORDER BY members.position");
    points = points_of(rows.bind(sweep.id));
  } else {
    points = points_of_build(database, sweep.id, selection.version);
  }
  std::vector<std::pair<std::optional<Metric>, std::optional<Metric>>> ends;
  std::vector<Metric> all = metrics;
  for (const Metric& metric : metrics) {
    const auto& [low, high] = ends.emplace_back(metric_at(metric, EnergyBound::low), metric_at(metric, EnergyBound::high));
    for (const auto& end : {low, high})
      if (end) all.push_back(*end);
  }
  // Created before the conditions are applied, because points that do not meet them may be references.
  MetricValues values(database, all, points);
  std::erase_if(points, [&](const StoredPoint& point) {
    NamedValues named = point.axes;
    named.insert(named.end(), point.repeats.begin(), point.repeats.end());
    return !std::all_of(conditions.begin(), conditions.end(),
                        [&](const std::string& condition) { return holds(condition, named); });
  });
  if (points.empty())
    throw SweepError(selection.sweep + (selection.version.empty() ? "" : '@' + selection.version) +
                     ": no point of it is in the database" + (conditions.empty() ? "" : " for which the condition holds"));

  std::vector<PointGroup> groups;
  std::map<std::string, std::size_t> group_of;
  for (StoredPoint& point : points) {
    const auto [found, is_new] = group_of.try_emplace(to_json(point.axes), groups.size());
    if (is_new)
      groups.push_back({point.axes, {}, std::vector<Spread>(metrics.size()), std::vector<EnergyEnds>(metrics.size())});
    PointGroup& group = groups[found->second];
    const auto add = [&](const std::optional<Metric>& metric, Spread& spread) {
      if (const auto value = metric ? values.value(*metric, point) : std::nullopt) spread.add(value->value, value->half_width);
    };
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      add(metrics[m], group.values[m]);
      add(ends[m].first, group.ends[m].low);
      add(ends[m].second, group.ends[m].high);
    }
    group.points.push_back(std::move(point));
  }
  return groups;
}

std::string unit_of(ResultsDatabase& database, const Metric& metric) {
  if (metric.text.find('{') != std::string::npos) return {};
  SqliteStatement unit = database.connection().prepare("SELECT unit FROM statistic_names WHERE id = ?");
  std::set<std::string> units;
  for (const auto& [id, name] : names_of(database, StatisticPath::parse(metric.text).path)) {
    unit.bind(id).step();
    units.insert(unit.text(0));
    unit.reset();
  }
  return units.size() == 1 ? *units.begin() : std::string();
}

void require_paths(ResultsDatabase& database, const Metric& metric) {
  for (const std::string& text : metric.paths()) {
    const std::string path = StatisticPath::parse(text).path;
    if (!names_of(database, path).empty()) continue;
    std::vector<std::string> known;
    SqliteStatement rows = database.connection().prepare("SELECT path FROM statistic_names");
    while (rows.step()) known.push_back(readable_path(rows.text(0)));
    throw SweepError("no statistic in the database has the path " + path + did_you_mean(nearest_name(known, path)));
  }
}

}  // namespace lacuna
