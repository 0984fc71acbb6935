#include "platform/sweep/point_results.h"

#include <fnmatch.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/launch/text.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  return text.str();
}

class Flattened {
 public:
  explicit Flattened(std::vector<StatisticValue>& values) : values_(values) {}

  void add(const std::string& path, const Json& json) {
    if (json.is_number() || json.is_boolean()) {
      add_number(path, json, {});
    } else if (json.is_object()) {
      const auto value = json.find("value");
      if (value != json.end() && json.contains("unit")) {
        add_number(path, *value, json["unit"].get<std::string>());
      } else {
        for (const auto& [name, child] : json.items()) add(path.empty() ? name : path + '.' + name, child);
      }
    }
  }

 private:
  void add_number(const std::string& path, const Json& json, std::string unit) {
    StatisticValue& added = values_.emplace_back();
    added.path = path;
    added.unit = !unit.empty() ? std::move(unit) : path.ends_with("_ps") ? "ps" : std::string();
    if (json.is_number_unsigned()) {
      const auto number = json.get<std::uint64_t>();
      // SQLite's integers have a sign.
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        added.value = static_cast<double>(number);
      } else {
        added.value = static_cast<std::int64_t>(number);
      }
    } else if (json.is_number_integer()) {
      added.value = json.get<std::int64_t>();
    } else if (json.is_number()) {
      added.value = json.get<double>();
    } else {
      added.value = std::int64_t{json.is_boolean() && json.get<bool>()};  // null is a value that is not a number
      if (json.is_null()) values_.pop_back();
    }
  }

  std::vector<StatisticValue>& values_;
};

}  // namespace

PointResults parse_statistics(std::string_view text) {
  PointResults results;
  try {
    const Json json = Json::parse(text);
    Flattened flattened(results.statistics);
    const Json& run = json.at("run");
    results.run_hash = run.at("run_hash").get<std::string>();
    results.version = run.at("lacuna").get<std::string>();
    flattened.add("run", run);
    for (const Json& kernel : json.at("kernel_totals"))
      flattened.add("kernels." + kernel.at("kernel").get<std::string>(), kernel);
    flattened.add("", json.at("statistics"));
  } catch (const nlohmann::json::exception& e) {
    throw SweepError(std::string("statistics.json cannot be read: ") + e.what());
  }
  return results;
}

PointResults read_results(const fs::path& folder) {
  std::error_code status;
  if (!fs::exists(folder / "statistics.json", status)) throw SweepError("the run has left no statistics.json");
  PointResults results = parse_statistics(contents(folder / "statistics.json"));
  results.configuration = contents(folder / "effective.cfg");
  std::istringstream rows(contents(folder / "kernels.csv"));
  std::getline(rows, results.kernel_columns);
  for (std::string row; std::getline(rows, row);) results.kernels.push_back(row);
  return results;
}

std::vector<std::string> Take::paths() const {
  std::vector<std::string> paths;
  if (text.find('{') == std::string::npos) return {text};
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) throw SweepError("{ without }");
    paths.emplace_back(trimmed(std::string_view(text).substr(open + 1, close - open - 1)));
  }
  return paths;
}

std::optional<double> Take::value(const std::function<std::optional<double>(const std::string&)>& sum) const {
  if (text.find('{') == std::string::npos) return sum(text);
  NamedValues values;
  std::string expression = text;
  for (const std::string& path : paths()) {
    const std::optional<double> number = sum(path);
    if (!number) return std::nullopt;
    std::ostringstream exact;
    exact.precision(std::numeric_limits<double>::max_digits10);
    exact << *number;
    const std::string stand_in = "path_" + std::to_string(values.size());
    const std::size_t open = expression.find('{');
    expression.replace(open, expression.find('}', open) + 1 - open, stand_in);
    values.emplace_back(stand_in, exact.str());
  }
  const double result = expression_value(expression, values);
  if (!std::isfinite(result)) return std::nullopt;
  return result;
}

bool path_matches(const std::string& pattern, const std::string& path) {
  if (pattern.find_first_of("*?") == std::string::npos) return pattern == path;
  // As file names: * stays within a name.
  std::string names = pattern;
  std::string candidate = path;
  std::replace(names.begin(), names.end(), '.', '/');
  std::replace(candidate.begin(), candidate.end(), '.', '/');
  return fnmatch(names.c_str(), candidate.c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

}  // namespace lacuna
