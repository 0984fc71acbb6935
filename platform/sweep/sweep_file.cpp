#include "platform/sweep/sweep_file.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <istream>
#include <map>
#include <sstream>

#include "models/common/nearest_name.h"
#include "platform/launch/text.h"
#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_error.h"
#include "platform/sweep/value_list.h"

namespace lacuna {
namespace {

const std::vector<std::string>& slurm_keys() {
  static const std::vector<std::string> kKeys{"partition",  "time",   "memory",          "cpus",          "account",   "qos",
                                              "constraint", "option", "points_per_task", "tasks_at_once", "array_size"};
  return kKeys;
}

class SweepParser {
 public:
  explicit SweepParser(SweepFile& sweep) : sweep_(sweep) {}

  void read(std::istream& text) {
    std::ostringstream whole;
    whole << text.rdbuf();
    sweep_.text = whole.str();
    std::istringstream lines(sweep_.text);
    std::string line;
    while (std::getline(lines, line)) {
      ++number_;
      const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (content.empty()) continue;
      if (content.find('\0') != std::string_view::npos) fail("is not text");
      if (content.front() == '[') {
        begin(content);
      } else {
        add(content);
      }
    }
    check();
  }

 private:
  using Handler = std::function<void(SweepKey)>;

  [[noreturn]] void fail_at(unsigned line, const std::string& reason) const { throw SweepError(sweep_.at(line) + reason); }
  [[noreturn]] void fail(const std::string& reason) const { fail_at(number_, reason); }

  void begin(std::string_view line) {
    if (line.back() != ']') fail("the line begins with [ but does not end with ]");
    const std::string name(trimmed(line.substr(1, line.size() - 2)));
    static const std::vector<std::string> kSections{"sweep", "set",    "options", "environment", "axes",
                                                    "zip",   "repeat", "take",    "slurm"};
    if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
      fail("unknown section [" + name + ']' + did_you_mean(nearest_name(kSections, name)));
    section_ = name;
    if (name == "zip") sweep_.axes.emplace_back();
  }

  void add(std::string_view line) {
    if (section_.empty()) fail('"' + std::string(line) + "\" stands before the first section");
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) fail('"' + std::string(line) + "\" is neither [section] nor name = value");
    SweepKey key{std::string(trimmed(line.substr(0, equals))), std::string(trimmed(line.substr(equals + 1))), number_};
    if (key.name.empty()) fail("a name is missing before =");
    if (section_ == "sweep") {
      add_general(key);
    } else if (section_ == "axes" || section_ == "zip" || section_ == "repeat") {
      add_axis(key);
    } else {
      add_to_list(std::move(key));
    }
  }

  void add_general(const SweepKey& key) {
    const std::map<std::string, Handler, std::less<>> keys{
        {"name", [&](const SweepKey& k) { once(k, name_line_), sweep_.name = k.value; }},
        {"command", [&](SweepKey k) { once(k, sweep_.command.line), sweep_.command = std::move(k); }},
        {"program", [&](SweepKey k) { once(k, sweep_.program.line), sweep_.program = std::move(k); }},
        {"argument", [&](SweepKey k) { sweep_.arguments.push_back(std::move(k)); }},
        {"config", [&](SweepKey k) { sweep_.configurations.push_back(std::move(k)); }},
        {"input", [&](SweepKey k) { sweep_.inputs.push_back(std::move(k)); }},
        {"leave_out", [&](SweepKey k) { sweep_.leave_out.push_back(std::move(k)); }},
        {"timeout", [&](const SweepKey& k) { once(k, timeout_line_), sweep_.timeout_seconds = seconds(k); }},
        {"database", [&](const SweepKey& k) { once(k, database_line_), sweep_.database = k.value; }}};
    const auto found = keys.find(key.name);
    if (found == keys.end()) {
      std::vector<std::string> names;
      names.reserve(keys.size());
      for (const auto& [name, handler] : keys) names.push_back(name);
      fail("unknown key " + key.name + " in [sweep]" + did_you_mean(nearest_name(names, key.name)));
    }
    if (key.value.empty()) fail(key.name + " has no value");
    found->second(key);
  }

  /// `line` is where the key stood before; 0 = nowhere.
  void once(const SweepKey& key, unsigned& line) const {
    if (line != 0) fail(key.name + " is given twice, first in line " + std::to_string(line));
    line = number_;
  }

  double seconds(const SweepKey& key) const {
    const auto quantity = parse_quantity(key.value);
    if (!quantity || quantity->kind != Quantity::Kind::time || !(quantity->value > 0))
      fail(key.name + " = " + key.value + ": must be a time of the host, such as 60s");
    return quantity->value * 1e-12;
  }

  void add_axis(const SweepKey& key) {
    SweepAxis axis{key.name, {}, number_};
    const std::vector<std::string> parts = split_outside(key.name, '.');
    if (parts.size() > 2 ||
        !std::all_of(parts.begin(), parts.end(), [](const std::string& part) { return is_identifier(part); }))
      fail('"' + key.name + "\" is neither a parameter (section.name) nor a name (letters, digits, _)");
    for (const auto& group : sweep_.axes)
      for (const SweepAxis& other : group) unique(other, key.name);
    for (const SweepAxis& other : sweep_.repeats) unique(other, key.name);
    try {
      axis.values = parse_values(key.value);
    } catch (const SweepError& e) {
      fail(key.name + ": " + e.what());
    }
    if (section_ == "repeat") {
      sweep_.repeats.push_back(std::move(axis));
    } else if (section_ == "axes") {
      sweep_.axes.push_back({std::move(axis)});
    } else {
      const std::vector<SweepAxis>& group = sweep_.axes.back();
      if (!group.empty() && group.front().values.size() != axis.values.size())
        fail("axes of one [zip] go together: " + group.front().name + " has " + std::to_string(group.front().values.size()) +
             " values, " + axis.name + " has " + std::to_string(axis.values.size()));
      sweep_.axes.back().push_back(std::move(axis));
    }
  }

  void unique(const SweepAxis& other, const std::string& name) const {
    if (other.name == name) fail("axis " + name + " is given twice, first in line " + std::to_string(other.line));
  }

  void add_to_list(SweepKey key) {
    std::vector<SweepKey>& list = section_ == "set"           ? sweep_.settings
                                  : section_ == "options"     ? sweep_.options
                                  : section_ == "environment" ? sweep_.environment
                                  : section_ == "take"        ? sweep_.take
                                                              : sweep_.slurm;
    if (section_ == "slurm" && std::find(slurm_keys().begin(), slurm_keys().end(), key.name) == slurm_keys().end())
      fail("unknown key " + key.name + " in [slurm]" + did_you_mean(nearest_name(slurm_keys(), key.name)));
    if (section_ == "take" && !is_identifier(key.name))
      fail('"' + key.name + "\" is not a name for what is taken (letters, digits, _)");
    if (key.value.empty() && section_ != "environment" && section_ != "options") fail(key.name + " has no value");
    const bool repeatable = section_ == "options" || (section_ == "slurm" && key.name == "option");
    const auto earlier = std::find_if(list.begin(), list.end(), [&](const SweepKey& k) { return k.name == key.name; });
    if (!repeatable && earlier != list.end())
      fail(key.name + " is given twice, first in line " + std::to_string(earlier->line));
    list.push_back(std::move(key));
  }

  void check() {
    if (sweep_.command.line == 0) fail_at(1, "[sweep] needs command = run, launch or exec");
    static const std::vector<std::string> kCommands{"run", "launch", "exec"};
    if (std::find(kCommands.begin(), kCommands.end(), sweep_.command.value) == kCommands.end())
      fail_at(sweep_.command.line, "command = " + sweep_.command.value + ": must be run, launch or exec" +
                                       did_you_mean(nearest_name(kCommands, sweep_.command.value)));
    if (sweep_.program.line == 0) fail_at(sweep_.command.line, "[sweep] needs program");
    if (!sweep_.arguments.empty() && sweep_.command.value == "launch")
      fail_at(sweep_.arguments.front().line, "a launch takes no argument of a program; [options] has arg and define");
    for (const auto& group : sweep_.axes)
      if (group.empty()) fail("a [zip] has no axes");
    if (sweep_.name.empty()) sweep_.name = sweep_.file.stem().string();
    if (sweep_.name.find_first_of("@ \t") != std::string::npos)
      fail_at(std::max(name_line_, 1U), "name = " + sweep_.name + ": must not have blanks or @");
    for (const SweepAxis& repeat : sweep_.repeats)
      if (repeat.name != kIdenticalRuns) check_use(repeat);
    for (const auto& group : sweep_.axes) {
      // One that is used nowhere names what the others of its [zip] have.
      const bool others = std::any_of(group.begin(), group.end(), [&](const SweepAxis& axis) { return is_used(axis); });
      for (const SweepAxis& axis : group)
        if (!others || axis.is_parameter()) check_use(axis);
    }
    check_conditions();
  }

  /// Every text in which {NAME} stands for a value.
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

  void check_use(const SweepAxis& axis) const {
    if (axis.is_parameter()) {
      for (const SweepKey& setting : sweep_.settings)
        if (setting.name == axis.name)
          fail_at(axis.line, axis.name + " is an axis and set in line " + std::to_string(setting.line));
      return;
    }
    if (!is_used(axis))
      fail_at(axis.line, "axis " + axis.name + " is used nowhere: no value has {" + axis.name +
                             "} in it, and a parameter is section.name");
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
    } catch (const SweepError& e) {
      fail_at(current->line, current->name + " = " + current->value + ": " + e.what());
    }
  }

  SweepFile& sweep_;
  std::string section_;
  unsigned number_ = 0;
  unsigned name_line_ = 0;
  unsigned timeout_line_ = 0;
  unsigned database_line_ = 0;
};

}  // namespace

std::string SweepFile::at(unsigned line) const { return file.string() + ':' + std::to_string(line) + ": "; }

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
