#include "platform/sweep/prepared_point.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "include/lacuna/sida_applications.h"
#include "models/common/config/nearest_name.h"
#include "platform/configuration.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/launch_request.h"
#include "platform/loaders/elf_file.h"
#include "platform/run/exec.h"
#include "platform/run/run_parameters.h"
#include "platform/sida/sida_parameters.h"
#include "platform/sweep/digest.h"
#include "platform/sweep/sweep_error.h"

// NOLINTNEXTLINE(readability-redundant-declaration): not declared by every unistd.h
extern "C" char** environ;

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThreads = "sim.threads";

Machine machine_of(const std::string& command) { return command == "exec" ? Machine::process : Machine::firmware; }

/// Inherited environment variables that the ROCm stack reads. Variables of Lacuna's configuration are excluded: the
/// configuration is taken from the sweep only (platform/run/exec.cpp).
NamedValues inherited_environment() {
  constexpr std::array<std::string_view, 8> kPrefixes{"HSA_", "HIP_", "ROCR_", "ROC_", "AMD_", "GPU_", "OCL_", "LD_"};
  NamedValues found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos &&
        std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) { return text.starts_with(prefix); }))
      found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string joined(const std::vector<std::string>& words) {
  Digest digest;
  for (const std::string& word : words) digest.add(word);
  return digest.text();
}

std::string joined(const NamedValues& values) {
  Digest digest;
  for (const auto& [name, value] : values) {
    digest.add(name);
    digest.add(value);
  }
  return digest.text();
}

/// The file in the program's folder with the most similar name, with the folder as written in `program`; "" if none is similar.
std::string nearest_program(const fs::path& run_in, const fs::path& program) {
  std::vector<std::string> names;
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator((run_in / program).parent_path(), status))
    if (entry.is_regular_file(status)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_name(names, program.filename().string());
  return nearest.empty() ? "" : (program.parent_path() / nearest).string();
}

bool is_executable(const fs::path& file) { return access(file.c_str(), X_OK) == 0; }

}  // namespace

std::vector<std::string> option_words(Command command, const std::string& name, const std::string& value) {
  if (takes_value(command, name)) return {"--" + name, value};
  if (value == "true") return {"--" + name};
  if (value != "false") throw SweepError(name + " = " + value + ": must be true or false, as --" + name + " takes no value");
  return {};
}

std::string difference(const PointInputs& now, const PointInputs& before) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& [name, digest] : now) {
    const auto found = before.find(name);
    if (found == before.end() || found->second != digest) add(name);
  }
  for (const auto& [name, digest] : before)
    if (!now.contains(name)) add(name);
  return names;
}

RunBuilder::RunBuilder(const SweepFile& sweep, fs::path folder, unsigned host_threads)
    : sweep_(sweep),
      folder_(std::move(folder)),
      host_threads_(std::to_string(host_threads)),
      simulator_(fs::read_symlink("/proc/self/exe")),
      simulated_by_(sweep.command.value == "exec" ? rocm_library() : simulator_) {
  if (sweep.command.value == "exec") inherited_ = inherited_environment();
  for (const SweepKey& setting : sweep.settings) sets_threads_ = sets_threads_ || setting.name == kThreads;
  for (const auto& group : sweep.axes)
    for (const SweepAxis& axis : group) sets_threads_ = sets_threads_ || axis.name == kThreads;
}

const std::string& RunBuilder::program(const SweepPoint& point) {
  std::string& found = programs_[point.program];
  if (!found.empty()) return found;
  if (sweep_.is_sida() && lacuna_sida_application_named(point.program.c_str()) != nullptr) return found = point.program;
  const auto refuse = [&](const std::string& what) {
    const std::string values = label(point.values());
    throw SweepError(sweep_.program.place.text() + "program = " + sweep_.program.value +
                     (sweep_.program.value == point.program ? "" : ": " + point.program) + ": " + what +
                     (values.empty() || sweep_.program.value == point.program ? "" : " (at " + values + ')'));
  };
  if (sweep_.is_sida()) {
    std::vector<std::string> names;
    for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) names.emplace_back(a->name);
    refuse("no program of the accelerator" + did_you_mean(nearest_name(names, point.program)));
  }
  const bool is_host_program = sweep_.command.value == "exec";
  const bool is_name = point.program.find('/') == std::string::npos;
  std::error_code status;
  if (fs::is_regular_file(folder_ / point.program, status)) {
    if (!is_host_program) return found = point.program;
    if (is_executable(folder_ / point.program)) return found = is_name ? "./" + point.program : point.program;
    if (!is_name || program_file(point.program).empty()) refuse("is not executable");
  }
  if (is_host_program && is_name && !program_file(point.program).empty()) return found = point.program;
  refuse((is_host_program && is_name ? "no such program in " + folder_.string() + " or in PATH" : "no such file") +
         did_you_mean(nearest_program(folder_, point.program)));
  return found;
}

std::vector<std::string> RunBuilder::words(const SweepPoint& point) {
  std::vector<std::string> words{sweep_.command.value};
  if (sweep_.is_sida()) words.emplace_back("run");
  for (const std::string& name : point.configurations) {
    std::string& file = configuration_files_[name];
    std::error_code status;
    if (file.empty() && fs::is_regular_file(folder_ / name, status)) file = (folder_ / name).lexically_normal();
    if (file.empty()) file = fs::canonical(find_configuration(name, preset_folders()));
    words.insert(words.end(), {"--config", file});
  }
  if (!sets_threads_ && !sweep_.is_sida()) words.insert(words.end(), {"--set", std::string(kThreads) + '=' + host_threads_});
  for (const auto& [name, value] : point.settings) words.insert(words.end(), {"--set", name + '=' + value});
  for (const auto& [name, value] : point.options) {
    const std::vector<std::string> option = option_words(command_of(sweep_), name, value);
    words.insert(words.end(), option.begin(), option.end());
  }
  if (sweep_.command.value == "exec") {
    words.insert(words.end(), {"--", program(point)});
  } else {
    words.push_back(program(point));
    if (!point.arguments.empty()) words.emplace_back("--");
  }
  words.insert(words.end(), point.arguments.begin(), point.arguments.end());
  return words;
}

const RunBuilder::Workload& RunBuilder::workload(const SweepPoint& point, const CommandLine& line) {
  // Among the parameters, only the target affects a workload's files.
  std::vector<std::string> parts{point.program};
  for (const auto& [name, value] : point.options) parts.insert(parts.end(), {name, value});
  for (const auto& [name, value] : point.settings)
    if (name == "gpu.target") parts.push_back(value);
  const auto [found, is_new] = workloads_.try_emplace(joined(parts));
  Workload& workload = found->second;
  if (!is_new) return workload;
  if (sweep_.command.value == "launch") {
    LaunchSession session = requested_launch(line);
    session.rehearse();
    workload.configuration = launch_configuration(line, session);
    workload.configuration.resize(workload.configuration.size() - line.configuration.size());
    workload.files.assign(session.inputs().begin(), session.inputs().end());
  } else if (sweep_.is_sida()) {
    // Only files are inputs: not the kind of a generated matrix or the name of an order.
    for (const std::string& name : {line.sida.run.matrix, line.sida.run.order.value_or("")}) {
      std::error_code status;
      if (fs::is_regular_file(folder_ / name, status)) workload.files.push_back(folder_ / name);
    }
  } else if (sweep_.command.value == "run") {
    ElfFile::read(line.input).require(ElfMachine::riscv);
    workload.files.emplace_back(line.input);
    if (!line.console_input.empty()) workload.files.push_back(folder_ / line.console_input);
  } else {
    workload.files.push_back(program_file(line.input));
  }
  return workload;
}

std::vector<ConfigurationSource> RunBuilder::configuration(const SweepPoint& point) {
  const CommandLine line = parse_command_line(words(point));
  std::vector<ConfigurationSource> sources = workload(point, line).configuration;
  sources.insert(sources.end(), line.configuration.begin(), line.configuration.end());
  return sources;
}

std::string RunBuilder::effective_configuration(const SweepPoint& point, const CommandLine& line) {
  std::vector<ConfigurationSource> sources = workload(point, line).configuration;
  sources.insert(sources.end(), line.configuration.begin(), line.configuration.end());
  if (sweep_.is_sida()) {
    std::ostringstream text;
    SidaParameters(sources).write(text);
    return text.str();
  }
  // The number of host threads does not affect simulated results, so it is not an input unless the sweep sets it, in which case
  // the sweep measures the host.
  if (!sets_threads_) sources.push_back({false, std::string(kThreads) + "=0"});
  std::ostringstream text;
  RunParameters(sources, machine_of(sweep_.command.value)).write(text);
  return text.str();
}

bool RunBuilder::FileState::looks_like(const fs::path& file) const {
  std::error_code status;
  return fs::last_write_time(file, status) == time && fs::file_size(file, status) == size;
}

const std::string& RunBuilder::digest(const fs::path& file, bool program) {
  FileState& state = files_[file];
  if (!state.digest.empty()) return state.digest;
  std::error_code status;
  // Read the time before the contents, so that changed_file() detects a write during the hash.
  state.time = fs::last_write_time(file, status);
  state.size = fs::file_size(file, status);
  state.program = program;
  state.digest = program ? program_digest(file) : file_digest(file);
  return state.digest;
}

std::map<std::string, std::string> RunBuilder::entered_files() const {
  std::map<std::string, std::string> entered;
  for (const auto& [file, state] : files_)
    entered.emplace(fs::absolute(file), (state.program ? "program:" : "") + state.digest);
  return entered;
}

std::string RunBuilder::changed_file() {
  for (auto& [file, state] : files_) {
    if (state.looks_like(file)) continue;
    std::error_code status;
    if (!fs::exists(file, status)) return file.string();
    FileState now = state;
    now.time = fs::last_write_time(file, status);
    now.size = fs::file_size(file, status);
    if ((state.program ? program_digest(file) : file_digest(file)) != state.digest) return file.string();
    state = now;
  }
  return {};
}

PreparedPoint RunBuilder::build(const SweepPoint& point) {
  const auto refuse = [&](const std::exception& e) {
    const std::string values = label(point.values());
    throw SweepError(sweep_.file.string() + ": point " + std::to_string(point.number) +
                     (values.empty() ? "" : " (" + values + ')') + ": " + e.what());
  };
  program(point);  // throws errors with the line of `program` in the sweep file
  try {
    PreparedPoint prepared;
    prepared.words = words(point);
    prepared.environment = point.environment;
    const CommandLine line = parse_command_line(prepared.words);
    PointInputs& inputs = prepared.inputs;
    inputs["simulator"] = digest(simulated_by_, true);
    inputs["configuration"] = digest_of(effective_configuration(point, line));
    // A host program (exec) receives its name as argv[0], so the key contains the name as written in the sweep file.
    std::vector<std::string> command{sweep_.command.value, point.program};
    for (const auto& [name, value] : point.options)
      if (name != "max-time") command.insert(command.end(), {name, value});
    command.insert(command.end(), point.arguments.begin(), point.arguments.end());
    for (const auto& [name, value] : point.repeats)
      if (name == kIdenticalRuns) command.push_back(value);
    inputs["command"] = joined(command);
    NamedValues environment = inherited_;
    environment.insert(environment.end(), point.environment.begin(), point.environment.end());
    inputs["environment"] = joined(environment);
    for (const fs::path& file : workload(point, line).files) inputs["file " + file.filename().string()] += digest(file);
    for (const std::string& file : point.inputs) inputs["file " + file] += digest(folder_ / file);
    Digest key;
    for (const auto& [name, value] : inputs) {
      key.add(name);
      key.add(value);
    }
    prepared.key = key.text();
    return prepared;
  } catch (const UsageError& e) {
    refuse(e);
  } catch (const ConfigurationError& e) {
    refuse(e);
  } catch (const ElfError& e) {
    refuse(e);
  } catch (const LaunchError& e) {
    refuse(e);
  } catch (const SweepError& e) {
    refuse(e);
  }
  return {};
}

}  // namespace lacuna
