#include "platform/sweep/statistic_names.h"

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <memory>
#include <sstream>
#include <system_error>

#include "models/common/config/nearest_name.h"
#include "platform/platform.h"
#include "platform/process_platform.h"
#include "platform/run/energy_recorder.h"
#include "platform/run/kernel_log.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_report.h"
#include "platform/sida/run_statistics.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

constexpr const char* kProcessPaths = "point.seconds\npoint.user_seconds\npoint.system_seconds\npoint.peak_memory_bytes\n";

/// Paths of all statistics of a run with one kernel, one per line.
std::string written_paths(const std::vector<ConfigurationSource>& configuration, Machine machine) {
  const RunParameters parameters(configuration, machine);
  StatisticsGroup statistics("platform");
  EnergyRecorder energy;
  std::unique_ptr<Platform> platform;
  std::unique_ptr<ProcessPlatform> process;
  if (machine == Machine::process) {
    process = std::make_unique<ProcessPlatform>("platform", parameters.values());
    process->describe_statistics(statistics);
    if (process->gpus() > 0) energy.add(process->gpu(0));
  } else {
    platform = std::make_unique<Platform>("platform", parameters.values(), true, PlatformConsole{});
    platform->describe_statistics(statistics);
    if (platform->gpu() != nullptr) energy.add(*platform->gpu());
  }
  KernelLog kernels;
  KernelRecord any;
  any.name = "*";
  any.end = Tick{1};
  any.energy.joules.resize(energy.blocks().size());
  any.energy.bounds.resize(energy.blocks().size());
  kernels.set_energy_blocks(energy.blocks());
  kernels.kernel_ended(any);
  std::ostringstream json;
  write_statistics_json({}, kernels, statistics, json);
  std::string text = kProcessPaths;
  for (const StatisticValue& value : parse_statistics(json.str()).statistics) text += value.path + '\n';
  return text;
}

[[noreturn]] void write_paths(int pipe, const std::vector<ConfigurationSource>& configuration, Machine machine) {
  int code = 0;
  std::string text;
  try {
    text = written_paths(configuration, machine);
  } catch (const std::exception& e) {
    text = e.what();
    code = 1;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = write(pipe, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  // Exit without destructors or exit handlers, because the parent process continues to use the same files and models.
  _exit(code);
}

}  // namespace

std::vector<std::string> statistic_names(const std::vector<ConfigurationSource>& configuration, Machine machine) {
  int ends[2];
  if (pipe(ends) != 0) throw SweepError("no pipe: " + std::generic_category().message(errno));
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw SweepError("no process can be started: " + std::generic_category().message(errno));
  if (child == 0) {
    close(ends[0]);
    write_paths(ends[1], configuration, machine);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw SweepError(text);
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

std::vector<std::string> sida_statistic_names() {
  const SidaParameters parameters({});
  SidaRun run;
  // Any nonzero numbers, because shares of zero would be invalid.
  run.totals.cycles = 1;
  run.matrix.stored_entries = 1;
  StatisticsGroup statistics("platform");
  describe_run(run, parameters, statistics);
  std::ostringstream json;
  write_statistics_json({}, {}, statistics, json);
  std::istringstream process(kProcessPaths);
  std::vector<std::string> names;
  for (std::string line; std::getline(process, line);) names.push_back(line);
  for (const StatisticValue& value : parse_statistics(json.str()).statistics) names.push_back(value.path);
  return names;
}

std::string missing_path(const std::string& path, const std::vector<std::string>& paths) {
  constexpr std::string_view kKernels = "kernels.";
  const bool of_kernel = path.starts_with(kKernels);
  const auto known = [&](const std::string& candidate) {
    if (!of_kernel || !candidate.starts_with(kKernels)) return path_matches(path, candidate);
    // A kernel's name may contain dots, so compare only the part of the path after the name.
    const std::string column = candidate.substr(kKernels.size() + 1);
    return path.size() > kKernels.size() + column.size() && path.ends_with(column);
  };
  // Values that a program reports are known only after it has run.
  if (path.starts_with("result.") && path.size() > std::string_view("result.").size()) return {};
  if (std::any_of(paths.begin(), paths.end(), known)) return {};
  std::vector<std::string> candidates = paths;
  if (of_kernel) {
    // Insert the kernel's name into the candidates, so that only other differences count.
    const std::size_t column = path.find('.', kKernels.size());
    const std::string kernel = path.substr(kKernels.size(), column - kKernels.size());
    for (std::string& candidate : candidates)
      if (candidate.starts_with("kernels.*")) candidate.replace(kKernels.size(), 1, kernel);
  }
  return "no statistic has the path " + path + did_you_mean(nearest_name(candidates, path));
}

}  // namespace lacuna
