#include "platform/sweep/point_results.h"

#include <fnmatch.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/launch/text.h"
#include "platform/run/gzip.h"
#include "platform/run/text_table.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kKernels = "kernels.";
constexpr std::string_view kMangledKernels = "kernels._Z";

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  return text.str();
}

bool name_matches(const std::string& pattern, const std::string& path) {
  if (pattern.find_first_of("*?[") == std::string::npos) return pattern == path;
  // Replace . by /: with FNM_PATHNAME, a * does not match a /, so it cannot extend beyond one name.
  std::string names = pattern;
  std::string candidate = path;
  std::replace(names.begin(), names.end(), '.', '/');
  std::replace(candidate.begin(), candidate.end(), '.', '/');
  return fnmatch(names.c_str(), candidate.c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

/// Streaming parser of statistics.json, without a document tree, because a sweep reads one file per point.
///
/// Skips arrays except kernel_totals: single dispatches are read from kernels.csv.
class StatisticsReader : public nlohmann::json_sax<Json> {
 public:
  explicit StatisticsReader(PointResults& results) : results_(results) {}

  const std::string& error() const { return error_; }
  bool complete() const { return has_run_hash_ && has_statistics_; }

  bool null() override { return true; }
  bool boolean(bool value) override { return add(std::int64_t{value}); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    // SQLite integers are signed.
    constexpr auto kMost = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return value > kMost ? add(static_cast<double>(value)) : add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& value) override {
    if (passed_over_ != 0 || objects_.empty()) return true;
    if (key_ == "unit") {
      objects_.back().unit = value;
    } else if (in_totals_ && objects_.size() == 2 && key_ == "kernel") {
      kernel_ = value;
    } else if (path_ == "run" && key_ == "run_hash") {
      results_.run_hash = value;
      has_run_hash_ = true;
    } else if (path_ == "run" && key_ == "lacuna") {
      results_.version = value;
    }
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    return true;
  }

  bool start_object(std::size_t) override {
    if (passed_over_ != 0) return true;
    objects_.push_back({path_.size(), {}, {}});
    if (in_totals_ && objects_.size() == 2) {
      kernel_begin_ = results_.statistics.size();
    } else if (objects_.size() == 2 && key_ == "statistics") {
      has_statistics_ = true;  // paths of statistics begin below this object
    } else if (objects_.size() > 1) {
      descend(key_);
    }
    return true;
  }

  bool end_object() override {
    if (passed_over_ != 0) return true;
    const Object& object = objects_.back();
    if (object.value) {
      // An object {"value", "unit", "description"} is a statistic, not a group with a member "value".
      if (!object.unit) descend("value");
      emit(path_, object.unit.value_or(std::string()), *object.value);
    }
    path_.resize(object.outer);
    objects_.pop_back();
    if (in_totals_ && objects_.size() == 1)
      for (std::size_t i = kernel_begin_; i < results_.statistics.size(); ++i)
        results_.statistics[i].path.insert(0, "kernels." + kernel_ + '.');
    return true;
  }

  bool start_array(std::size_t) override {
    if (passed_over_ == 0 && objects_.size() == 1 && key_ == "kernel_totals") {
      in_totals_ = true;
    } else {
      ++passed_over_;
    }
    return true;
  }

  bool end_array() override {
    if (passed_over_ != 0) {
      --passed_over_;
    } else {
      in_totals_ = false;
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    error_ = e.what();
    return false;
  }

 private:
  using Value = std::variant<std::int64_t, double>;
  struct Object {
    std::size_t outer;  ///< length of the path of the enclosing object
    std::optional<Value> value;
    std::optional<std::string> unit;
  };

  void descend(const std::string& name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }

  bool add(Value value) {
    if (passed_over_ != 0 || objects_.empty()) return true;
    if (key_ == "value") {
      objects_.back().value = value;
      return true;
    }
    const std::size_t outer = path_.size();
    descend(key_);
    emit(path_, path_.ends_with("_ps") ? "ps" : "", value);
    path_.resize(outer);
    return true;
  }

  void emit(const std::string& path, std::string unit, Value value) {
    results_.statistics.push_back({path, std::move(unit), value});
  }

  PointResults& results_;
  std::vector<Object> objects_;
  std::string path_;
  std::string key_;
  std::string kernel_;
  std::size_t kernel_begin_ = 0;
  std::size_t passed_over_ = 0;  ///< open arrays that are skipped
  bool in_totals_ = false;
  bool has_run_hash_ = false;
  bool has_statistics_ = false;
  std::string error_;
};

/// Mean of numbers separated by commas; nullopt if a part is not a number.
std::optional<double> mean_of(std::string_view text) {
  double sum = 0;
  const std::vector<std::string> parts = split_outside(text, ',');
  for (const std::string& part : parts) {
    double number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(number)) return std::nullopt;
    sum += number;
  }
  if (parts.empty()) return std::nullopt;
  return sum / static_cast<double>(parts.size());
}

}  // namespace

PointResults parse_statistics(std::string_view text) {
  PointResults results;
  StatisticsReader reader(results);
  if (!Json::sax_parse(text.begin(), text.end(), &reader))
    throw SweepError("statistics.json cannot be read: " + reader.error());
  if (!reader.complete()) throw SweepError("statistics.json is not that of a run");
  return results;
}

std::vector<StatisticValue> parse_result_line(std::istream& output) {
  constexpr std::string_view kBegin = "result:";
  std::string last;
  for (std::string line; std::getline(output, line);) {
    if (line.starts_with(kBegin)) last = line.substr(kBegin.size());
  }
  std::vector<StatisticValue> values;
  std::istringstream words(last);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    if (const std::optional<double> mean = mean_of(std::string_view(word).substr(equals + 1)))
      values.push_back({"result." + word.substr(0, equals), "", *mean});
  }
  return values;
}

PointResults read_results(const fs::path& folder) {
  std::error_code status;
  if (!fs::exists(folder / "statistics.json", status)) throw SweepError("the run has left no statistics.json");
  PointResults results = parse_statistics(contents(folder / "statistics.json"));
  results.configuration = contents(folder / "effective.cfg");
  // One of these files exists, selected by output.kernels.
  std::string table = contents(folder / "kernels.csv") + contents(folder / "kernel_totals.csv");
  try {
    table += gunzip(contents(folder / "kernels.csv.gz"));
  } catch (const GzipError& e) {
    throw SweepError(std::string("kernels.csv.gz cannot be read: ") + e.what());
  }
  std::istringstream rows(std::move(table));
  std::getline(rows, results.kernel_columns);
  for (std::string row; std::getline(rows, row);) results.kernels.push_back(row);
  return results;
}

std::vector<std::string> Metric::paths() const {
  if (text.find('{') == std::string::npos) return {text};
  std::vector<std::string> paths;
  for (const TextPart& part : parts_of(text))
    if (part.braced) paths.emplace_back(trimmed(part.text));
  return paths;
}

std::optional<double> Metric::value(const std::function<std::optional<double>(const std::string&)>& sum) const {
  if (text.find('{') == std::string::npos) return sum(text);
  NamedValues values;
  std::string expression;
  for (const TextPart& part : parts_of(text)) {
    if (!part.braced) {
      expression += part.text;
      continue;
    }
    const std::optional<double> number = sum(std::string(trimmed(part.text)));
    if (!number) return std::nullopt;
    std::ostringstream exact;
    exact.precision(std::numeric_limits<double>::max_digits10);
    exact << *number;
    const std::string stand_in = "path_" + std::to_string(values.size());
    expression += stand_in;
    values.emplace_back(stand_in, exact.str());
  }
  const double result = expression_value(expression, values);
  if (!std::isfinite(result)) return std::nullopt;
  return result;
}

std::string readable_path(const std::string& path) {
  if (!path.starts_with(kMangledKernels)) return path;
  // A mangled name has no dots, so the next dot ends the kernel's name.
  const std::size_t end = std::min(path.find('.', kMangledKernels.size()), path.size());
  return std::string(kKernels) + readable_kernel(path.substr(kKernels.size(), end - kKernels.size())) + path.substr(end);
}

std::string path_without_result(const std::string& path, const PointResults& results) {
  constexpr std::string_view kResult = "result.";
  std::vector<std::string> known;
  std::vector<std::string> kernels;
  std::vector<std::string> printed;
  for (const StatisticValue& value : results.statistics) {
    if (path_matches(path, value.path)) return {};
    const std::string readable = readable_path(value.path);
    known.push_back(readable);
    if (readable.starts_with(kResult)) printed.push_back(readable.substr(kResult.size()));
    constexpr std::string_view kTime = ".time_ps";  // one for each kernel
    if (readable.starts_with(kKernels) && readable.ends_with(kTime) && readable.find(".activity.") == std::string::npos)
      kernels.push_back(readable.substr(kKernels.size(), readable.size() - kKernels.size() - kTime.size()));
  }
  const auto listed = [](const std::vector<std::string>& names, const std::string& what, const std::string& none) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list.empty() ? none : what + list;
  };
  std::string message = "no statistic of the run has the path " + path;
  if (path.starts_with(kKernels)) message += "; " + listed(kernels, "its kernels are ", "it has no kernels");
  if (path.starts_with(kResult)) {
    message += "; " + listed(printed, "its line `result:` has ", "its program has printed no line `result: NAME=VALUE ...`");
  }
  return message + did_you_mean(nearest_name(known, path));
}

bool path_matches(const std::string& pattern, const std::string& path) {
  if (name_matches(pattern, path)) return true;
  return pattern.starts_with(kKernels) && path.starts_with(kMangledKernels) && name_matches(pattern, readable_path(path));
}

}  // namespace lacuna
