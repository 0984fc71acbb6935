#include "platform/sweep/sweep_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <istream>
#include <map>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/include_stack.h"
#include "platform/launch/text.h"
#include "platform/sweep/axis_files.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/result_columns.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/value_list.h"

namespace lacuna {
namespace {

/// The keys of [repeat]; all other names in [repeat] are axes.
constexpr const char* kUntil = "until";
constexpr const char* kLeast = "least";

const std::vector<std::string>& slurm_keys() {
  static const std::vector<std::string> kKeys{"partition",  "time",   "memory",          "cpus",          "account",   "qos",
                                              "constraint", "option", "points_per_task", "tasks_at_once", "array_size"};
  return kKeys;
}

class SweepParser {
 public:
  explicit SweepParser(SweepFile& sweep) : sweep_(sweep) {}

  void read(std::istream& text) {
    {
      const IncludeStack::Reading reading(includes_, sweep_.file);
      read_file(text, sweep_.file);
    }
    check();
  }

 private:
  using Handler = std::function<void(SweepKey)>;

  /// State of reading one file.
  struct Reading {
    SweepPlace place;  ///< current line
    std::string section;
    std::map<std::string, unsigned, std::less<>> given;  ///< lines of the keys read so far that may occur only once per file
  };

  [[noreturn]] static void fail_at(const SweepPlace& place, const std::string& reason) {
    throw SweepError(place.text() + reason);
  }
  [[noreturn]] void fail(const std::string& reason) const { fail_at(reading_->place, reason); }

  void read_file(std::istream& text, const std::filesystem::path& file) {
    Reading reading{{file, 0}, {}, {}};
    Reading* const includer = std::exchange(reading_, &reading);
    std::string line;
    while (std::getline(text, line)) {
      ++reading.place.line;
      sweep_.text += line + '\n';
      const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (content.empty()) continue;
      if (content.find('\0') != std::string_view::npos) fail("is not text");
      if (content.front() == '[') {
        end_section();
        begin_section(content);
      } else {
        add(content);
      }
    }
    end_section();
    reading_ = includer;
  }

  void include(const std::string& name) {
    std::filesystem::path file;
    try {
      file = includes_.find(reading_->place.file, name);
    } catch (const IncludeError& e) {
      fail(e.what());
    }
    std::ifstream stream(file);
    if (!stream) fail("include = " + name + ": cannot be read");
    const IncludeStack::Reading reading(includes_, file);
    read_file(stream, file);
  }

  void begin_section(std::string_view line) {
    if (line.back() != ']') fail("the line begins with [ but does not end with ]");
    const std::string name(trimmed(line.substr(1, line.size() - 2)));
    static const std::vector<std::string> kSections{"sweep", "set",    "options", "environment", "axes",
                                                    "zip",   "repeat", "metrics", "files",       "slurm"};
    if (name == "take") fail("the section [take] is called [metrics]");
    if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
      fail("unknown section [" + name + ']' + did_you_mean(nearest_name(kSections, name)));
    reading_->section = name;
    if (name == "zip") sweep_.axes.emplace_back();
  }

  void end_section() const {
    if (reading_->section == "zip" && sweep_.axes.back().empty()) fail("a [zip] has no axes");
  }

  void add(std::string_view line) {
    const std::string& section = reading_->section;
    const std::size_t equals = line.find('=');
    SweepKey key{std::string(trimmed(line.substr(0, equals))), {}, reading_->place};
    if (equals != std::string_view::npos) key.value = trimmed(line.substr(equals + 1));
    if (section.empty() && key.name == "include" && !key.value.empty()) return include(key.value);
    if (section.empty()) fail('"' + std::string(line) + "\" is before the first section");
    if (equals == std::string_view::npos) fail('"' + std::string(line) + "\" is neither [section] nor name = value");
    if (key.name.empty()) fail("a name is missing before =");
    if (section == "sweep") {
      add_general(key);
    } else if (section == "axes" || section == "zip" || section == "repeat") {
      if (section != "repeat" || !add_until(key)) add_axis(key);
    } else {
      add_to_list(std::move(key));
    }
  }

  /// Adds an argument, which may contain blanks; an option and its value must be two arguments.
  void add_argument(SweepKey key) {
    const std::size_t blank = key.value.find_first_of(" \t");
    if (key.value.front() == '-' && blank != std::string::npos && key.value.find('=') > blank) {
      const std::string option = key.value.substr(0, blank), rest(trimmed(std::string_view(key.value).substr(blank)));
      fail_at(key.place, "argument = " + key.value + ": is one argument of the program; write argument = " + option + '=' +
                             rest + ", or two lines, argument = " + option + " and argument = " + rest);
    }
    sweep_.arguments.push_back(std::move(key));
  }

  void add_general(const SweepKey& key) {
    const std::map<std::string, Handler, std::less<>> keys{
        {"name", [&](SweepKey k) { once(k.name, k.name), name_ = std::move(k); }},
        {"command", [&](SweepKey k) { once(k.name, k.name), sweep_.command = std::move(k); }},
        {"program", [&](SweepKey k) { once(k.name, k.name), sweep_.program = std::move(k); }},
        {"argument", [&](SweepKey k) { add_argument(std::move(k)); }},
        {"config", [&](SweepKey k) { sweep_.configurations.push_back(std::move(k)); }},
        {"input", [&](SweepKey k) { sweep_.inputs.push_back(std::move(k)); }},
        {"leave_out", [&](SweepKey k) { sweep_.leave_out.push_back(std::move(k)); }},
        {"overnight", [&](SweepKey k) { once(k.name, k.name), sweep_.overnight = std::move(k); }},
        {"files_of", [&](SweepKey k) { once(k.name, k.name), sweep_.files_of = std::move(k); }},
        {"timeout", [&](const SweepKey& k) { once(k.name, k.name), sweep_.timeout_seconds = seconds(k); }},
        {"grace", [&](const SweepKey& k) { once(k.name, k.name), sweep_.grace_seconds = seconds(k); }},
        {"database", [&](const SweepKey& k) { once(k.name, k.name), sweep_.database = k.value; }}};
    const auto found = keys.find(key.name);
    if (found == keys.end()) {
      if (key.name == kUntil || key.name == kLeast) fail(key.name + " belongs in [repeat], not in [sweep]");
      std::vector<std::string> names;
      names.reserve(keys.size());
      for (const auto& [name, handler] : keys) names.push_back(name);
      fail("unknown key " + key.name + " in [sweep]" + did_you_mean(nearest_name(names, key.name)));
    }
    if (key.value.empty()) fail(key.name + " has no value");
    found->second(key);
  }

  /// Refuses a key that occurs twice in one file. A file may override keys of the files that it includes.
  void once(const std::string& what, const std::string& name) const {
    const auto [earlier, is_new] = reading_->given.emplace(what, reading_->place.line);
    if (!is_new) fail(name + " is given twice, first in line " + std::to_string(earlier->second));
  }

  double seconds(const SweepKey& key) const {
    const auto quantity = parse_quantity(key.value);
    if (!quantity || quantity->kind != Quantity::Kind::time || !(quantity->value > 0))
      fail(key.name + " = " + key.value + ": must be a time of the host, such as 60s");
    return quantity->value * 1e-12;
  }

  /// Parses `until` and `least` of [repeat]. Returns false if `key` is an axis.
  bool add_until(const SweepKey& key) {
    if (key.name != kUntil && key.name != kLeast) return false;
    once("repeat " + key.name, key.name);
    if (key.name == kLeast) {
      std::size_t number = 0;
      const char* const end = key.value.data() + key.value.size();
      const auto [rest, status] = std::from_chars(key.value.data(), end, number);
      if (status != std::errc{} || rest != end || number < 2)
        fail("least = " + key.value + ": must be a whole number of repetitions, at least 2");
      least_ = {key, number};
      return true;
    }
    SweepUntil until;
    until.key = key;
    const std::size_t of = key.value.find(" of ");
    const auto share = parse_share(trimmed(std::string_view(key.value).substr(0, of)));
    if (!share || !(*share > 0) || *share >= 1)
      fail("until = " + key.value + ": must be a share of the mean above 0 and below 100 %, such as 1 % or 1 % of NAME");
    until.share = *share;
    if (of != std::string::npos)
      for (const std::string& name : split_outside(std::string_view(key.value).substr(of + 4), ','))
        until.metrics.emplace_back(trimmed(name));
    sweep_.until = std::move(until);
    return true;
  }

  void add_axis(const SweepKey& key) {
    SweepAxis axis{key.name, {}, key.place};
    const std::vector<std::string> parts = split_outside(key.name, '.');
    if (parts.size() > 2 ||
        !std::all_of(parts.begin(), parts.end(), [](const std::string& part) { return is_identifier(part); }))
      fail('"' + key.name + "\" is neither a parameter (section.name) nor a name (letters, digits, _)");
    once("axis " + key.name, "axis " + key.name);
    try {
      axis.values = parse_values(key.value);
    } catch (const SweepError& e) {
      fail(key.name + ": " + e.what());
    }
    replace_included(axis);
    if (reading_->section == "repeat") {
      sweep_.repeats.push_back(std::move(axis));
    } else if (reading_->section == "axes") {
      sweep_.axes.push_back({std::move(axis)});
    } else {
      std::vector<SweepAxis>& group = sweep_.axes.back();
      if (!group.empty() && group.front().values.size() != axis.values.size())
        fail("axes of one [zip] go together: " + group.front().name + " has " + std::to_string(group.front().values.size()) +
             " values, " + axis.name + " has " + std::to_string(axis.values.size()));
      group.push_back(std::move(axis));
    }
  }

  /// Removes an axis of the same name that an included file has defined. The other axes of its [zip] are kept in `torn_` until
  /// the sweep file defines them again as well.
  void replace_included(const SweepAxis& axis) {
    const auto has_name = [&](const SweepAxis& other) { return other.name == axis.name; };
    std::erase_if(sweep_.repeats, has_name);
    std::erase_if(torn_, [&](const TornAxis& torn) { return torn.axis.name == axis.name; });
    for (std::size_t g = 0; g < sweep_.axes.size(); ++g) {
      std::vector<SweepAxis>& group = sweep_.axes[g];
      if (std::erase_if(group, has_name) == 0) continue;
      for (SweepAxis& other : group) torn_.push_back({std::move(other), axis});
      sweep_.axes.erase(sweep_.axes.begin() + static_cast<std::ptrdiff_t>(g));
      return;
    }
  }

  void add_to_list(SweepKey key) {
    const std::string& section = reading_->section;
    std::vector<SweepKey>& list = section == "set"           ? sweep_.settings
                                  : section == "options"     ? sweep_.options
                                  : section == "environment" ? sweep_.environment
                                  : section == "metrics"     ? sweep_.metrics
                                  : section == "files"       ? sweep_.files
                                                             : sweep_.slurm;
    if (section == "slurm" && std::find(slurm_keys().begin(), slurm_keys().end(), key.name) == slurm_keys().end())
      fail("unknown key " + key.name + " in [slurm]" + did_you_mean(nearest_name(slurm_keys(), key.name)));
    if (section == "metrics" && !is_identifier(key.name))
      fail('"' + key.name + "\" is not a name of a metric (letters, digits, _)");
    if (key.value.empty() && section != "environment" && section != "options") fail(key.name + " has no value");
    if (section == "options" || (section == "slurm" && key.name == "option")) {
      list.push_back(std::move(key));
      return;
    }
    once(section + '.' + key.name, key.name);
    const auto included = std::find_if(list.begin(), list.end(), [&](const SweepKey& k) { return k.name == key.name; });
    if (included == list.end()) {
      list.push_back(std::move(key));
    } else {
      *included = std::move(key);
    }
  }

  void check() {
    const SweepPlace begin{sweep_.file, 1};
    if (sweep_.command.place.line == 0) fail_at(begin, "[sweep] needs command = run, launch, exec or sida");
    static const std::vector<std::string> kCommands{"run", "launch", "exec", "sida"};
    if (std::find(kCommands.begin(), kCommands.end(), sweep_.command.value) == kCommands.end())
      fail_at(sweep_.command.place, "command = " + sweep_.command.value + ": must be run, launch, exec or sida" +
                                        did_you_mean(nearest_name(kCommands, sweep_.command.value)));
    if (sweep_.program.place.line == 0) fail_at(sweep_.command.place, "[sweep] needs program");
    if (!sweep_.arguments.empty() && sweep_.command.value == "launch")
      fail_at(sweep_.arguments.front().place, "a launch takes no argument of a program; [options] has arg and define");
    if (!sweep_.arguments.empty() && sweep_.is_sida())
      fail_at(sweep_.arguments.front().place, "a program of sida takes no argument; [options] has matrix and others");
    if (!torn_.empty())
      fail_at(torn_.front().by.place, torn_.front().by.name + " goes together with " + torn_.front().axis.name + " of " +
                                          torn_.front().axis.place.file.string() + ", which has to be given again, too");
    sweep_.name = name_.value.empty() ? sweep_.file.stem().string() : name_.value;
    if (sweep_.name.find_first_of("@ \t") != std::string::npos)
      fail_at(name_.value.empty() ? begin : name_.place, "name = " + sweep_.name + ": must not have blanks or @");
    check_braces();
    for (const SweepAxis& repeat : sweep_.repeats) {
      check_column(repeat);
      if (repeat.name != kIdenticalRuns) check_use(repeat, did_you_mean(nearest_name({kUntil, kLeast}, repeat.name)));
    }
    for (const auto& group : sweep_.axes) {
      for (const SweepAxis& axis : group) check_column(axis);
      // An unused axis is allowed if it labels the values of other axes in its [zip].
      const bool others = std::any_of(group.begin(), group.end(), [&](const SweepAxis& axis) { return is_used(axis); });
      for (const SweepAxis& axis : group)
        if (!others || axis.is_parameter()) check_use(axis);
    }
    check_conditions();
    check_until();
    check_files(sweep_);
  }

  void check_until() {
    if (least_ && !sweep_.until) fail_at(least_->key.place, "least belongs to until, which [repeat] does not have");
    if (!sweep_.until) return;
    SweepUntil& until = *sweep_.until;
    const auto fail_until = [&](const std::string& reason) {
      fail_at(until.key.place, "until = " + until.key.value + ": " + reason);
    };
    if (sweep_.repeats.empty())
      fail_until("[repeat] has nothing that could be repeated, such as gpu.start_phase = 0cycles..3765cycles+251cycles");
    std::vector<std::string> known;
    for (const SweepKey& metric : sweep_.metrics) known.push_back(metric.name);
    for (const std::string& name : until.metrics)
      if (std::find(known.begin(), known.end(), name) == known.end())
        fail_until("[metrics] has no " + name + did_you_mean(nearest_name(known, name)));
    std::size_t all = 1;
    for (const SweepAxis& repeat : sweep_.repeats) all *= repeat.values.size();
    if (all < 2) fail_until("[repeat] has one repetition, and an interval needs at least two");
    if (!least_) return;
    if (least_->number > all)
      fail_at(least_->key.place,
              "least = " + least_->key.value + ": [repeat] has only " + std::to_string(all) + " repetitions");
    until.least = least_->number;
  }

  /// Refuses the name of an axis that is also a fixed column of the tables of results.
  void check_column(const SweepAxis& axis) const {
    const std::string rename = "; give the axis another name, here and wherever {" + axis.name + "} stands";
    if (result_columns::has(axis.name))
      fail_at(axis.place, "axis " + axis.name + ": tables of results have a column of this name" + rename);
    for (const SweepKey& metric : sweep_.metrics)
      if (result_columns::is_of_metric(axis.name, metric.name))
        fail_at(axis.place, "axis " + axis.name + ": tables of results have a column of this name for the metric in " +
                                place_of(metric.place, axis.place) + rename);
  }

  /// "line 3", with the name of the file if it is not that of `from`.
  static std::string place_of(const SweepPlace& place, const SweepPlace& from) {
    return "line " + std::to_string(place.line) + (place.file == from.file ? "" : " of " + place.file.string());
  }

  /// All texts in which {NAME} is replaced by a value.
  std::vector<const SweepKey*> texts() const {
    std::vector<const SweepKey*> all{&sweep_.program};
    for (const auto* list :
         {&sweep_.arguments, &sweep_.configurations, &sweep_.inputs, &sweep_.settings, &sweep_.options, &sweep_.environment})
      for (const SweepKey& key : *list) all.push_back(&key);
    return all;
  }

  bool is_used(const SweepAxis& axis) const {
    const std::vector<const SweepKey*> all = texts();
    return axis.is_parameter() ||
           std::any_of(all.begin(), all.end(), [&](const SweepKey* key) { return refers_to(key->value, axis.name); });
  }

  void check_use(const SweepAxis& axis, const std::string& hint = "") const {
    if (axis.is_parameter()) {
      for (const SweepKey& setting : sweep_.settings)
        if (setting.name == axis.name)
          fail_at(axis.place, axis.name + " is an axis and set in " + place_of(setting.place, axis.place));
      return;
    }
    if (!is_used(axis))
      fail_at(axis.place, "axis " + axis.name + " is used nowhere: no value has {" + axis.name +
                              "} in it, and a parameter is section.name" + hint);
  }

  /// Checks that braces match, which the other checks rely on.
  void check_braces() const {
    std::vector<const SweepKey*> all = texts();
    for (const SweepKey& key : sweep_.metrics) all.push_back(&key);
    for (const SweepKey* key : all) {
      try {
        parts_of(key->value);
      } catch (const SweepError& e) {
        fail_at(key->place, key->name + " = " + key->value + ": " + e.what());
      }
    }
  }

  void check_conditions() const {
    NamedValues first;
    for (const auto& group : sweep_.axes)
      for (const SweepAxis& axis : group) first.emplace_back(axis.name, axis.values.front());
    for (const SweepAxis& axis : sweep_.repeats) first.emplace_back(axis.name, axis.values.front());
    const SweepKey* current = nullptr;
    try {
      for (const SweepKey* key : texts()) substitute_values((current = key)->value, first);
      for (const SweepKey& key : sweep_.leave_out) holds((current = &key)->value, first);
      if (sweep_.overnight) holds((current = &*sweep_.overnight)->value, first);
    } catch (const SweepError& e) {
      fail_at(current->place, current->name + " = " + current->value + ": " + e.what());
    }
  }

  /// An axis from an included file. Another axis of its [zip] has been replaced by `by`.
  struct TornAxis {
    SweepAxis axis;
    SweepAxis by;
  };

  struct Least {
    SweepKey key;
    std::size_t number;
  };

  SweepFile& sweep_;
  IncludeStack includes_;
  Reading* reading_ = nullptr;
  SweepKey name_;
  std::vector<TornAxis> torn_;
  std::optional<Least> least_;
};

}  // namespace

Command command_of(const SweepFile& sweep) {
  if (sweep.is_sida()) return Command::sida;
  return sweep.command.value == "exec" ? Command::exec : sweep.command.value == "run" ? Command::run : Command::launch;
}

SweepFile parse_sweep_text(std::istream& text, const std::filesystem::path& file) {
  SweepFile sweep;
  sweep.file = file;
  SweepParser(sweep).read(text);
  return sweep;
}

SweepFile parse_sweep_file(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(file, status)) throw SweepError(file.string() + ": no such sweep file");
  std::ifstream stream(file);
  if (!stream) throw SweepError(file.string() + ": cannot be read");
  return parse_sweep_text(stream, file);
}

}  // namespace lacuna
