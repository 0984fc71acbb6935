#include "platform/sweep/results_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "platform/run/text_table.h"
#include "platform/sweep/energy_ends.h"
#include "platform/sweep/point_failure.h"
#include "platform/sweep/result_columns.h"
#include "platform/sweep/sweep_progress.h"

namespace lacuna {
namespace {

/// Number of lines of a log that are shown.
constexpr std::size_t kLogLines = 12;

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Formats a number with the fewest digits that parse to the same number.
std::string exact(double value) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// All names of axes in order of first occurrence. Points of earlier versions of a sweep may have other axes.
std::vector<std::string> names(const std::vector<PointGroup>& groups, bool with_repeats) {
  std::vector<std::string> found;
  const auto add = [&](const NamedValues& values) {
    for (const auto& [name, value] : values)
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  };
  for (const PointGroup& group : groups) add(group.axes);
  for (const PointGroup& group : groups)
    for (const StoredPoint& point : group.points)
      if (with_repeats) add(point.repeats);
  return found;
}

std::string value_of(const NamedValues& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return found == values.end() ? std::string() : found->second;
}

void write_csv(const std::vector<TextRow>& rows, std::ostream& out) {
  for (const TextRow& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) out << cell(row[i]) << (i + 1 == row.size() ? '\n' : ',');
}

std::vector<TextRow> point_rows(const std::vector<PointGroup>& groups) {
  const std::vector<std::string> axes = names(groups, true);
  std::vector<TextRow> rows{axes};
  rows.front().insert(rows.front().end(), result_columns::kPoints.begin(), result_columns::kPoints.end());
  for (const PointGroup& group : groups) {
    for (const StoredPoint& point : group.points) {
      NamedValues values = point.axes;
      values.insert(values.end(), point.repeats.begin(), point.repeats.end());
      TextRow& row = rows.emplace_back();
      for (const std::string& name : axes) row.push_back(value_of(values, name));
      row.push_back(point.state_text());
      if (point.id == 0) {
        row.resize(rows.front().size());
        continue;
      }
      for (std::string text : {std::to_string(point.exit_code), fixed(point.seconds, 3), point.run_hash, point.version,
                               point.commit, point.host, point.date, point.cause})
        row.push_back(std::move(text));
    }
  }
  return rows;
}

/// Writes the log's line that contains the cause, and the log's last lines.
void write_log_end(const StoredPoint& point, std::ostream& out) {
  std::istringstream log(point.log);
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  const std::size_t shown = lines.size() > kLogLines ? lines.size() - kLogLines : 0;
  const std::string said = said_of_cause(point.cause);
  const auto cause = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return !said.empty() && line.find(said) != std::string::npos;
  });
  const auto at = static_cast<std::size_t>(cause - lines.begin());
  if (at < shown) {
    out << "  | " << lines[at] << '\n';
    if (at + 1 < shown) out << "  | ... " << shown - at - 1 << " more lines\n";
  }
  for (std::size_t i = shown; i < lines.size(); ++i) out << "  | " << lines[i] << '\n';
}

std::string readable_count(std::optional<std::size_t> count) { return count ? grouped(*count) : "-"; }

/// Text such as "cycles 3 to 94": minimum and maximum over all combinations of the number of samples that the wanted interval
/// of a metric needs. "" if no combination has two samples.
std::string needed_samples(const std::vector<PointGroup>& groups, std::size_t metric, const std::string& name, double share) {
  std::optional<std::size_t> least;
  std::optional<std::size_t> most;
  bool endless = false;
  bool beyond = false;
  for (const PointGroup& group : groups) {
    const Spread& spread = group.values[metric];
    if (spread.samples < 2) continue;
    const std::optional<std::size_t> needed = spread.needed(share);
    beyond = beyond || spread.is_beyond(share);
    endless = endless || (!needed && !spread.is_beyond(share));
    if (!needed) continue;
    least = least ? std::min(*least, *needed) : needed;
    most = std::max(most, needed);
  }
  std::string range = least ? readable_count(least) : "";
  if (most != least) range += " to " + readable_count(most);
  if (endless) range += range.empty() ? "more than can be said" : " or more than can be said";
  if (beyond) add_to_list(range, "no number where sampled timing alone is wider", " or ");
  return range.empty() ? range : name + ' ' + range;
}

/// Writes the confidence level and, for each metric, the number of samples that the wanted interval needs.
void write_intervals(const std::vector<PointGroup>& groups, const std::vector<ReportedMetric>& metrics,
                     const WantedInterval& wanted, std::ostream& out) {
  std::size_t most_samples = 0;
  bool sampled = false;
  std::string needs;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    for (const PointGroup& group : groups) {
      most_samples = std::max(most_samples, group.values[m].samples);
      sampled = sampled || group.values[m].own_half_width() > 0;
    }
    if (const std::string range = needed_samples(groups, m, metrics[m].metric.name, wanted.share); !range.empty())
      add_to_list(needs, range);
  }
  if (most_samples == 1) out << "one sample each: no intervals" << (sampled ? " except those of sampled timing" : "") << '\n';
  if (most_samples >= 2) out << "± is the 95 % confidence interval of the mean by Student's t; one sample has none\n";
  if (sampled)
    out << "sampled: an estimate by sampled timing, whose own interval is included and does not narrow with more samples\n";
  if (most_samples >= 2) out << "samples that ± " << readable_percent(wanted.share) << " needs: " << needs << '\n';
  const auto has_ends = [](const PointGroup& group) {
    return std::any_of(group.ends.begin(), group.ends.end(), [](const EnergyEnds& ends) { return ends.known(); });
  };
  if (std::any_of(groups.begin(), groups.end(), has_ends))
    out << "in brackets: the mean with all energies at their low and at their high ends\n";
}

/// Text such as " (0.97 to 0.98)"; "" if the energies of a value are not known or have no ends.
std::string readable_ends(const EnergyEnds& ends) {
  if (!ends.known()) return {};
  return " (" + readable_number(ends.low.mean) + " to " + readable_number(ends.high.mean) + ')';
}

std::string percent(double ratio) {
  std::ostringstream text;
  text.precision(3);
  text << std::showpos << 100 * ratio << " %";
  return text.str();
}

}  // namespace

std::string readable_number(double value) {
  const double size = std::fabs(value);
  std::ostringstream text;
  // Print all integer digits; omit the decimals of whole numbers and of numbers from 100,000 up.
  if (size < 0x1p63 && (size >= 1e5 || size == std::floor(size))) {
    text << (value < 0 ? "-" : "") << grouped(static_cast<std::uint64_t>(std::llround(size)));
  } else {
    text.precision(6);
    text << value;
  }
  return text.str();
}

std::string readable_percent(double share) {
  std::ostringstream text;
  text << 100 * share << " %";
  return text.str();
}

std::string readable_interval(double mean, double half_width) {
  const double shown = mean == 0 ? half_width : 100 * half_width / std::fabs(mean);
  std::ostringstream text;
  // Two significant digits, since intervals are not known more precisely.
  if (shown < 100) text.precision(2);
  text << "± " << (shown < 100 ? shown : std::round(shown)) << (mean == 0 ? "" : " %");
  return text.str();
}

std::string readable_spread(const Spread& spread) {
  if (spread.samples == 0) return "-";
  const std::optional<double> half = spread.half_width();
  if (!half) return readable_number(spread.mean);
  return readable_number(spread.mean) + ' ' + readable_interval(spread.mean, *half) +
         (spread.own_half_width() > 0 ? " sampled" : "");
}

void write_groups(const std::vector<PointGroup>& groups, const std::vector<ReportedMetric>& metrics,
                  const WantedInterval& wanted, std::ostream& out) {
  const std::vector<std::string> axes = names(groups, false);
  std::vector<TextRow> rows{axes};
  if (axes.empty()) rows.front().emplace_back();
  rows.front().emplace_back("done");
  for (const ReportedMetric& metric : metrics) {
    rows.front().push_back(metric.title());
    if (wanted.in_table) rows.front().push_back("for ± " + readable_percent(wanted.share));
  }
  for (const PointGroup& group : groups) {
    TextRow& row = rows.emplace_back();
    for (const std::string& name : axes) row.push_back(value_of(group.axes, name));
    if (axes.empty()) row.emplace_back("all");
    row.push_back(std::to_string(group.done()) + " of " + std::to_string(group.points.size()));
    for (std::size_t m = 0; m < group.values.size(); ++m) {
      const Spread& spread = group.values[m];
      row.push_back(readable_spread(spread) + readable_ends(group.ends[m]));
      if (wanted.in_table) row.push_back(readable_count(spread.needed(wanted.share)));
    }
  }
  write_aligned(rows, out);
  write_intervals(groups, metrics, wanted, out);
}

void write_groups_csv(const std::vector<PointGroup>& groups, const std::vector<ReportedMetric>& metrics,
                      const WantedInterval& wanted, std::ostream& out) {
  const std::vector<std::string> axes = names(groups, false);
  std::vector<TextRow> rows{axes};
  rows.front().insert(rows.front().end(), result_columns::kCombinations.begin(), result_columns::kCombinations.end());
  std::vector<bool> with_energies;
  for (const ReportedMetric& metric : metrics) {
    for (const std::string_view column : result_columns::kSpread)
      rows.front().push_back(metric.metric.name + std::string(column));
    with_energies.push_back(metric_at(metric.metric, EnergyBound::low).has_value());
    if (!with_energies.back()) continue;
    for (const std::string_view column : result_columns::kEnergyEnds)
      rows.front().push_back(metric.metric.name + std::string(column));
  }
  for (const PointGroup& group : groups) {
    TextRow& row = rows.emplace_back();
    for (const std::string& name : axes) row.push_back(value_of(group.axes, name));
    row.push_back(std::to_string(group.points.size()));
    row.push_back(std::to_string(group.done()));
    for (std::size_t m = 0; m < group.values.size(); ++m) {
      const Spread& spread = group.values[m];
      for (const double value : {spread.mean, spread.min, spread.max})
        row.push_back(spread.samples == 0 ? std::string() : exact(value));
      row.push_back(std::to_string(spread.samples));
      const std::optional<double> half = spread.half_width();
      row.push_back(half ? exact(spread.mean - *half) : std::string());
      row.push_back(half ? exact(spread.mean + *half) : std::string());
      row.push_back(spread.deviation() ? exact(*spread.deviation()) : std::string());
      const std::optional<std::size_t> needed = spread.needed(wanted.share);
      row.push_back(needed ? std::to_string(*needed) : std::string());
      row.push_back(spread.own_half_width() > 0 ? exact(spread.own_half_width()) : std::string());
      if (!with_energies[m]) continue;
      for (const Spread& end : {group.ends[m].low, group.ends[m].high})
        row.push_back(end.samples == 0 ? std::string() : exact(end.mean));
    }
  }
  write_csv(rows, out);
}

void write_points(const std::vector<PointGroup>& groups, std::ostream& out) {
  std::vector<TextRow> rows = point_rows(groups);
  // Remove the column of causes, which would make the table too wide; --failed shows them.
  for (TextRow& row : rows) row.pop_back();
  write_aligned(rows, out);
}

void write_points_csv(const std::vector<PointGroup>& groups, std::ostream& out) { write_csv(point_rows(groups), out); }

void write_failures(const std::vector<PointGroup>& groups, std::ostream& out) {
  for (const PointGroup& group : groups) {
    for (const StoredPoint& point : group.points) {
      if (point.id == 0 || point.state == PointState::done) continue;
      NamedValues values = point.axes;
      values.insert(values.end(), point.repeats.begin(), point.repeats.end());
      std::string name;
      for (const auto& [axis, value] : values) add_to_list(name, axis + '=' + value, " ");
      out << name << (name.empty() ? "" : ": ") << state_name(point.state) << ", exit code " << point.exit_code << ", after "
          << fixed(point.seconds, 3) << " s on " << point.host << (point.cause.empty() ? "" : ": ") << point.cause << "\n  "
          << point.command << '\n';
      write_log_end(point, out);
    }
  }
}

std::size_t write_comparison(const std::vector<PointGroup>& before, const std::vector<PointGroup>& after,
                             const std::vector<ReportedMetric>& metrics, double threshold, std::ostream& out) {
  std::map<std::string, const PointGroup*> by_axes;
  for (const PointGroup& group : before) by_axes[to_json(group.axes)] = &group;
  const std::vector<std::string> axes = names(after, false);
  std::vector<TextRow> rows{axes};
  if (axes.empty()) rows.front().emplace_back();
  rows.front().insert(rows.front().end(), result_columns::kComparison.begin(), result_columns::kComparison.end());
  std::size_t compared = 0;
  std::size_t inside = 0;
  std::size_t changed = 0;
  std::size_t only_after = 0;
  for (const PointGroup& group : after) {
    const auto found = by_axes.find(to_json(group.axes));
    if (found == by_axes.end()) {
      ++only_after;
      continue;
    }
    const PointGroup& old = *found->second;
    by_axes.erase(found);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const Spread& was = old.values[m];
      const Spread& is = group.values[m];
      if (was.samples == 0 && is.samples == 0) continue;
      ++compared;
      const bool gone = was.samples == 0 || is.samples == 0;
      const double difference = is.mean - was.mean;
      // A change from 0 exceeds every threshold.
      const bool large = gone || std::fabs(difference) > threshold * std::fabs(was.mean);
      if (!large) continue;
      if (!gone && was.overlaps(is)) {
        ++inside;
        continue;
      }
      ++changed;
      TextRow& row = rows.emplace_back();
      for (const std::string& name : axes) row.push_back(value_of(group.axes, name));
      if (axes.empty()) row.emplace_back();
      row.push_back(metrics[m].title());
      row.push_back(readable_spread(was));
      row.push_back(readable_spread(is));
      row.push_back(gone || was.mean == 0 ? "" : percent(difference / was.mean));
    }
  }
  if (changed != 0) write_aligned(rows, out);
  out << changed << " of " << compared << " values have changed by more than " << 100 * threshold << " %";
  if (inside != 0)
    out << "; " << inside << (inside == 1 ? " more difference is" : " more differences are") << " inside the spread";
  out << '\n';
  if (!by_axes.empty() || only_after != 0)
    out << "not compared: " << by_axes.size() << " combinations that are only in the first, " << only_after
        << " that are only in the second\n";
  return changed;
}

}  // namespace lacuna
