// The command line of a workload.
#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdio>
#include <iostream>

#include "models/common/config/nearest_name.h"
#include "workloads/common/option.h"

namespace workload {
namespace {

std::string text_of(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

template <typename T>
T parse_number(const std::string& name, const char* kind, const std::string& text, T least, T most) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stopped == end && value >= least && value <= most) return value;
  const auto shown = [](T number) {
    if constexpr (std::is_floating_point_v<T>) return text_of(number);
    return std::to_string(number);
  };
  throw UsageError("--" + name + ": '" + text + "' is not " + kind + " from " + shown(least) + " to " + shown(most));
}

const char* const whole_number = "a whole number";
const char* const number = "a number";

std::size_t index_of(const std::string& preset) {
  return static_cast<std::size_t>(std::find(preset_names.begin(), preset_names.end(), preset) - preset_names.begin());
}

std::function<void(const std::string&)> one_of(const std::string& name, std::string& variable,
                                               const std::vector<std::string>& choices) {
  return [name, &variable, choices](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      std::string all;
      for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
      throw UsageError("--" + name + ": '" + text + "' is not one of " + all +
                       lacuna::did_you_mean(lacuna::nearest_name(choices, text)));
    }
    variable = text;
  };
}

}  // namespace

Program::Program(std::string name, std::string summary, std::string source)
    : name_(std::move(name)), summary_(std::move(summary)), source_(std::move(source)) {
  choice(preset_, "preset", "the sizes", {preset_names.begin(), preset_names.end()}, std::string("default"));
  size(seed_, "seed", "of the random input", 1, 0);
  size(repeat_, "repeat", "how often the kernels run on the same input", 1);
  flag(checks_, "check", "compare the results with the host's");
}

Program::~Program() = default;

Program::Option& Program::add(const std::string& name, const std::string& what) {
  options_.push_back(std::make_unique<Option>());
  options_.back()->name = name;
  options_.back()->what = what;
  return *options_.back();
}

void Program::size(int& variable, const std::string& option, const std::string& what, const Presets<int>& values, int least,
                   int most) {
  Option& added = add(option, what);
  added.presets = {std::to_string(values.small), std::to_string(values.standard), std::to_string(values.paper)};
  added.set = [option, &variable, least, most](const std::string& text) {
    variable = parse_number(option, whole_number, text, least, most);
  };
}

void Program::real(double& variable, const std::string& option, const std::string& what, const Presets<double>& values,
                   double least, double most) {
  Option& added = add(option, what);
  added.presets = {text_of(values.small), text_of(values.standard), text_of(values.paper)};
  added.set = [option, &variable, least, most](const std::string& text) {
    variable = parse_number(option, number, text, least, most);
  };
}

void Program::choice(std::string& variable, const std::string& option, const std::string& what,
                     const std::vector<std::string>& choices, const Presets<std::string>& values) {
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  Option& added = add(option, what + ": " + all);
  added.presets = {values.small, values.standard, values.paper};
  added.set = one_of(option, variable, choices);
}

void Program::text(std::string& variable, const std::string& option, const std::string& what,
                   const Presets<std::string>& values) {
  Option& added = add(option, what);
  added.presets = {values.small, values.standard, values.paper};
  added.set = [&variable](const std::string& given) { variable = given; };
}

void Program::flag(bool& variable, const std::string& option, const std::string& what) {
  Option& added = add(option, what);
  added.is_flag = true;
  added.presets = {"0", "0", "0"};
  added.set = [&variable](const std::string& given) { variable = given == "1"; };
}

void Program::takes_sparsity(const std::string& what) {
  real(sparsity_, "sparsity", "the share of " + what + " that is zero, randomly chosen", 0.0, 0, 1);
}

void Program::parse(int argc, char** argv) {
  namespace po = boost::program_options;
  po::options_description description;
  description.add_options()("help", "")("describe", "");
  std::vector<std::string> names = {"help", "describe"};
  for (const auto& option : options_) {
    names.push_back(option->name);
    if (option->is_flag) {
      description.add_options()(option->name.c_str(), "");
    } else {
      description.add_options()(option->name.c_str(), po::value<std::string>(), "");
    }
  }
  po::variables_map given;
  try {
    namespace style = po::command_line_style;
    // Abbreviations are disabled, so that adding an option never invalidates a command line.
    po::store(po::command_line_parser(argc, argv)
                  .options(description)
                  .positional({})
                  .style(style::unix_style & ~style::allow_guessing)
                  .run(),
              given);
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    name = name.substr(0, name.find('='));
    const std::string nearest = lacuna::nearest_name(names, name);
    throw UsageError("unknown option --" + name +
                     (nearest.empty() ? "; --help lists them" : lacuna::did_you_mean("--" + nearest)));
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  if (given.count("help") != 0) return print_help();
  if (given.count("describe") != 0) return print_description();
  std::size_t preset = 1;
  for (const auto& option : options_) {
    const bool is_given = given.count(option->name) != 0;
    if (option->is_flag) {
      option->value = is_given ? "1" : "0";
    } else {
      option->value = is_given ? given[option->name].as<std::string>() : option->presets[preset];
    }
    option->set(option->value);
    // The preset is the first option.
    if (option->name == "preset") preset = index_of(preset_);
  }
  parsed_ = true;
}

void Program::print_help() const {
  std::cout << name_ << ": " << summary_ << ".\n"
            << source_ << ".\n\nOptions, and their values with --preset small, default, paper:\n";
  const auto line = [](const std::string& name, const std::string& what, const std::string& values) {
    std::printf("  %-18s %s%s\n", ("--" + name).c_str(), what.c_str(), values.empty() ? "" : (" [" + values + "]").c_str());
  };
  std::cout.flush();
  for (const auto& option : options_) {
    const auto& values = option->presets;
    std::string shown = option->varies() ? values[0] + ", " + values[1] + ", " + values[2] : values[1];
    if (option->is_flag) shown.clear();
    line(option->name, option->what, shown);
  }
  line("help", "this", "");
  line("describe", "name, summary, source and sizes, for programs to read", "");
}

// Prints lines of key and value, separated by a tab.
void Program::print_description() const {
  std::cout << "name\t" << name_ << "\nsummary\t" << summary_ << "\nsource\t" << source_ << '\n';
  for (std::size_t preset = 0; preset < preset_names.size(); ++preset) {
    std::cout << preset_names[preset] << '\t';
    const char* separator = "";
    for (const auto& option : options_) {
      // The first four options are common to all workloads.
      if (&option - options_.data() < 4 || option->is_flag || option->name == "sparsity") continue;
      std::cout << separator << "--" << option->name << ' ' << option->presets[preset];
      separator = " ";
    }
    std::cout << '\n';
  }
}

}  // namespace workload
