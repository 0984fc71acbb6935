#include "platform/sweep/results.h"

#include <iostream>

#include "platform/launch/text.h"
#include "platform/run/text_table.h"
#include "platform/sweep/results_report.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/value_list.h"

namespace lacuna {
namespace {

constexpr int kExitChanged = 1;

void list_sweeps(ResultsDatabase& database) {
  std::vector<TextRow> rows{{"sweep", "points", "done", "failed", "last run", "commits", "file"}};
  for (const StoredSweep& sweep : database.sweeps()) {
    database.require_intact(sweep.id);
    SqliteStatement counts = database.connection().prepare(
        "SELECT count(*), total(points.state = 'done'), total(points.state <> 'done') FROM members LEFT JOIN points "
        "ON points.key = members.key WHERE members.sweep = ? AND members.current");
    counts.bind(sweep.id).step();
    std::string commits;
    SqliteStatement builds = database.connection().prepare(
        "SELECT DISTINCT points.commit_id FROM members JOIN points ON points.key = members.key WHERE members.sweep = ? "
        "ORDER BY points.id");
    builds.bind(sweep.id);
    while (builds.step()) add_to_list(commits, builds.text(0), " ");
    rows.push_back({sweep.name, std::to_string(counts.integer(0)), std::to_string(counts.integer(1)),
                    std::to_string(counts.integer(2)), sweep.date, commits, sweep.file});
  }
  write_aligned(rows, std::cout);
}

std::vector<Metric> requested_metrics(ResultsDatabase& database, const std::string& sweep, const ResultsOptions& options) {
  if (options.metrics.empty()) return find_sweep(database, sweep).metrics;
  std::vector<Metric> metrics;
  for (const std::string& text : options.metrics) {
    const std::size_t equals = text.find('=');
    const bool named = equals != std::string::npos && is_identifier(trimmed(text.substr(0, equals)));
    metrics.push_back(named
                          ? Metric{std::string(trimmed(text.substr(0, equals))), std::string(trimmed(text.substr(equals + 1)))}
                          : Metric{text, text});
    require_paths(database, metrics.back());
  }
  return metrics;
}

double threshold_of(const std::string& text) {
  const auto share = parse_share(text);
  if (!share) throw UsageError("--threshold " + text + ": must be a share such as 1% or 0.01; see lacuna results --help");
  return *share;
}

WantedInterval wanted_interval(const ResultsOptions& options) {
  WantedInterval wanted;
  if (!options.interval) return wanted;
  const auto share = parse_share(*options.interval);
  if (!share || !(*share > 0) || *share >= 1)
    throw UsageError("--interval " + *options.interval +
                     ": must be a share of the mean above 0 and below 100 %, such as 1%; see lacuna results --help");
  wanted.share = *share;
  wanted.in_table = true;
  return wanted;
}

}  // namespace

int results(const CommandLine& line) {
  const ResultsOptions& options = line.results;
  ResultsDatabase database(options.database, true);
  if (line.input.empty()) {
    if (options.points || options.failed || options.csv || options.compare || !options.metrics.empty() ||
        !options.where.empty())
      throw UsageError("which SWEEP? lacuna results --db " + options.database + " lists them; see lacuna results --help");
    list_sweeps(database);
    return 0;
  }
  const SweepSelection selection = SweepSelection::parse(line.input);
  const std::vector<Metric> metrics = requested_metrics(database, selection.sweep, options);
  std::vector<ReportedMetric> reported;
  reported.reserve(metrics.size());
  for (const Metric& metric : metrics) reported.push_back({metric, unit_of(database, metric)});
  const auto groups = load_points(database, selection, metrics, options.where);
  if (options.compare) {
    const double threshold = threshold_of(options.threshold);
    const auto before = load_points(database, SweepSelection::parse(*options.compare), metrics, options.where);
    return write_comparison(before, groups, reported, threshold, std::cout) == 0 ? 0 : kExitChanged;
  }
  if (options.failed) {
    write_failures(groups, std::cout);
  } else if (options.points) {
    (options.csv ? write_points_csv : write_points)(groups, std::cout);
  } else {
    (options.csv ? write_groups_csv : write_groups)(groups, reported, wanted_interval(options), std::cout);
  }
  return 0;
}

}  // namespace lacuna
