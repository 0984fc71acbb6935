#include "platform/sweep/sweep_check.h"

#include <algorithm>

#include "models/common/config/nearest_name.h"
#include "models/common/config/parameters.h"
#include "platform/command_line.h"
#include "platform/sida/sida_parameters.h"
#include "platform/sweep/statistic_names.h"
#include "platform/sweep/statistic_path.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

class ParameterCheck {
 public:
  explicit ParameterCheck(const SweepFile& sweep) : sweep_(sweep), sida_({}) {
    if (!sweep.is_sida()) used_values_.describe(used_, machine_of(sweep));
    all_values_.describe(all_);
  }

  void check(const std::string& name, const std::vector<std::string>& values, const SweepPlace& place) {
    const ParameterSet& used = sweep_.is_sida() ? sida_.set() : used_;
    Parameter* const parameter = used.find(name);
    if (parameter == nullptr && all_.find(name) != nullptr)
      throw SweepError(place.text() + "parameter " + name + " is not used by lacuna " + sweep_.command.value);
    if (parameter == nullptr) {
      const ParameterSet& known = sweep_.is_sida() ? used : all_;
      throw SweepError(place.text() + "unknown parameter " + name + did_you_mean(known.nearest(name)));
    }
    for (const std::string& value : values) {
      // Values with {…} are checked later, for each point.
      if (value.find('{') != std::string::npos) continue;
      if (const auto reason = parameter->parse(value))
        throw SweepError(place.text() + name + " = " + value + ": " + *reason +
                         (parameter->legal().empty() ? "" : " (legal: " + parameter->legal() + ')'));
    }
  }

 private:
  const SweepFile& sweep_;
  const SidaParameters sida_;
  PlatformParameters used_values_;
  PlatformParameters all_values_;
  ParameterSet used_;
  ParameterSet all_;
};

void check_options(const SweepFile& sweep) {
  const Command command = command_of(sweep);
  std::vector<std::string> known = option_names(command);
  // Remove options that the sweep itself sets, such as output folder and configuration, and options that points cannot have.
  std::erase_if(known, [](const std::string& name) {
    return name == "config" || name == "set" || name == "out" || name == "quiet" || name == "help" || name == "gdb";
  });
  for (const SweepKey& option : sweep.options) {
    if (std::find(known.begin(), known.end(), option.name) == known.end())
      throw SweepError(option.place.text() + "lacuna " + sweep.command.value + " has no option --" + option.name +
                       " for a sweep" + did_you_mean(nearest_name(known, option.name)));
    // Values with {…} are checked later, for each point.
    if (option.value.find('{') != std::string::npos) continue;
    try {
      option_words(command, option.name, option.value);
    } catch (const SweepError& e) {
      throw SweepError(option.place.text() + e.what());
    }
  }
}

}  // namespace

Machine machine_of(const SweepFile& sweep) { return sweep.command.value == "exec" ? Machine::process : Machine::firmware; }

void check_names(const SweepFile& sweep) {
  ParameterCheck parameters(sweep);
  for (const SweepKey& setting : sweep.settings) parameters.check(setting.name, {setting.value}, setting.place);
  const auto check_axis = [&](const SweepAxis& axis) {
    if (axis.is_parameter()) parameters.check(axis.name, axis.values, axis.place);
  };
  for (const auto& group : sweep.axes) std::for_each(group.begin(), group.end(), check_axis);
  std::for_each(sweep.repeats.begin(), sweep.repeats.end(), check_axis);
  check_options(sweep);
}

std::vector<Metric> check_metrics(const SweepFile& sweep, const std::vector<SweepPoint>& points, RunBuilder& builder) {
  std::vector<Metric> metrics;
  if (sweep.metrics.empty()) return metrics;
  const auto paths_of = [&](const SweepPoint& point) {
    return sweep.is_sida() ? sida_statistic_names() : statistic_names(builder.configuration(point), machine_of(sweep));
  };
  std::vector<std::string> paths = paths_of(points.front());
  bool all_paths = points.size() == 1;
  for (const SweepKey& key : sweep.metrics) {
    Metric& metric = metrics.emplace_back(Metric{key.name, key.value});
    const auto fail = [&](const std::string& reason) {
      throw SweepError(key.place.text() + key.name + " = " + key.value + ": " + reason);
    };
    try {
      metric.value([](const std::string&) { return 1.0; });
      metric = with_zipped_axes(metric, sweep);
    } catch (const SweepError& e) {
      fail(e.what());
    }
    for (const std::string& text : metric.paths()) {
      const std::string path = StatisticPath::parse(text).path;
      if (missing_path(path, paths).empty()) continue;
      if (!all_paths) {
        const std::vector<std::string> more = paths_of(points.back());
        paths.insert(paths.end(), more.begin(), more.end());
        all_paths = true;
      }
      if (const std::string reason = missing_path(path, paths); !reason.empty()) fail(reason);
    }
  }
  return metrics;
}

}  // namespace lacuna
