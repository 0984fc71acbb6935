#include "platform/run/simulate.h"

#include <spdlog/spdlog.h>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/neardata/near_data.h"
#include "platform/configuration.h"
#include "platform/loaders/elf_file.h"
#include "platform/loaders/image_source_lines.h"
#include "platform/loaders/image_tags.h"
#include "platform/platform.h"
#include "platform/run/kernel_log.h"
#include "platform/run/link_recorder.h"
#include "platform/run/log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_control.h"
#include "platform/run/run_failure.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_report.h"
#include "platform/run/run_results.h"
#include "platform/run/terminal.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

std::optional<OutputFolder> open_output(const CommandLine& line) {
  if (line.output_folder) return OutputFolder::at(*line.output_folder);
  if (line.command != Command::hart) return OutputFolder::numbered("lacuna-out");
  return std::nullopt;
}

/// The reason why the run ended, with the trap if its handler could not be fetched.
std::string reason_with_state(RunEnd end, const Platform& platform, const SimulationParameters& limits) {
  std::string reason = reason_of(end, limits);
  if (end == RunEnd::lost_trap) reason += ": " + platform.hart().last_trap();
  return reason;
}

void log_end(RunEnd end, const Platform& platform, const std::string& reason) {
  if (reason.empty() || end == RunEnd::lost_trap) return;  // the hart itself has reported the trap
  std::ostringstream state;
  platform.diagnose(state);
  spdlog::log(end == RunEnd::interrupted ? spdlog::level::warn : spdlog::level::err, "{}\n{}", reason, state.str());
}

/// The program's command line for semihosting. The first word is a constant instead of the file's name or path, because the
/// hart spends time on each character, so the name would affect simulated time.
std::string guest_command_line(const CommandLine& line) {
  std::string text = "program";
  for (const std::string& argument : line.guest_arguments) text += ' ' + argument;
  return text;
}

/// Deleter that does not destroy the models: the process ends after the run and the operating system frees their memory,
/// whereas the destructors of a GPU's thousands of objects would take up to a tenth of the start-up time.
struct LeaveModels {
  void operator()(Platform* platform) const { platform->shut_down(); }
};
using RunPlatform = std::unique_ptr<Platform, LeaveModels>;

/// Builds the models. Throws ConfigurationError if they refuse a combination of parameters that are valid individually.
RunPlatform build_platform(const RunParameters& parameters, const PlatformConsole& console) {
  try {
    return RunPlatform(new Platform("platform", parameters.values(), parameters.machine() == Machine::firmware, console));
  } catch (const std::invalid_argument& e) {
    throw ConfigurationError(e.what());
  }
}

void attach_debugger(Hart& hart, std::uint16_t port) {
  try {
    const std::uint16_t listening = hart.attach_gdb(port);
    std::cerr << "lacuna: waiting for a debugger: target remote 127.0.0.1:" << listening << std::endl;
  } catch (const std::system_error& e) {
    throw UsageError("--gdb " + std::to_string(port) + ": " + e.what());
  }
}

void attach_observers(GpuDevice& gpu, const ImageSourceLines& lines, const ImageTags& tags, KernelLog& kernels) {
  gpu.packet_processor().set_source_lines(lines);
  if (auto* const near_data = gpu.extension<NearData>()) near_data->set_tag_source(tags);
  gpu.add_observer(kernels);
}

RunObserver observer_of(Platform& platform, ProgressLine& progress, const KernelLog& kernels,
                        std::function<bool()> output_failed) {
  RunObserver observer;
  observer.ended = [&] { return platform.ended(); };
  observer.progress = [&] { return platform.progress(); };
  observer.timer_armed = [&] { return platform.timer_armed(); };
  observer.output_failed = std::move(output_failed);
  observer.between_slices = [&] {
    if (!progress.due()) return;
    progress.show({kernel_time(), platform.hart().statistics().instructions,
                   platform.gpu() == nullptr ? 0 : platform.gpu()->wavefront_instructions(), kernels.running()});
  };
  return observer;
}

/// Reports the failure to the log and to an attached debugger. Returns the exit code.
int report_failure(const RunFailure& failure, Hart& hart) {
  spdlog::critical("{}", failure.text);
  spdlog::default_logger()->flush();
  hart.tell_debugger_of_end(failure.exit_code, "lacuna: " + failure.text);
  return failure.exit_code;
}

/// Calls the program's conclude() and returns the exit code, which is kExitCheckFailed if only a check of a model has failed.
/// write_end() changes the code if output was lost.
int exit_code_of(RunEnd end, Platform& platform, const GuestProgram& program, bool quiet) {
  int code = end == RunEnd::guest ? platform.exit_code() : exit_code(end);
  if (end == RunEnd::guest && program.conclude) code = program.conclude(code, quiet ? nullptr : &std::cout);
  return code == 0 && any_failed_check() ? kExitCheckFailed : code;
}

/// Ends the recorders. Returns a summary with the members that models and recorders determine.
RunSummary summary_of(RunEnd end, Platform& platform, RunRecorders& recorders) {
  RunSummary summary;
  summary.end = end;
  summary.guest_mistakes = guest_mistakes();
  summary.simulated = kernel_time();
  summary.peak_host_memory_bytes = peak_host_memory();
  if (platform.gpu() != nullptr) platform.gpu()->report_unfinished_kernels();
  recorders.finish(summary.simulated);
  if (!recorders.energy.empty()) summary.energy = &recorders.energy;
  summary.hart_instructions = platform.hart().statistics().instructions;
  return summary;
}

/// Writes the results by calling `write`, and the report. `lost`: output that has been lost so far. Returns the exit code.
int write_end(const CommandLine& line, const std::optional<OutputFolder>& output, std::string lost, RunSummary& summary,
              ProgressLine& progress, const KernelLog& kernels, const std::function<void()>& write) {
  const auto attempt = [&](const std::function<void()>& part) {
    try {
      part();
    } catch (const WriteError& e) {
      if (lost.empty()) lost = e.what();
    }
  };
  if (output) {
    summary.output_folder = output->path().string();
    attempt(write);
  }
  progress.begin_line();
  if (line.command != Command::hart && !line.quiet) write_run_report(summary, kernels, std::cerr);
  attempt(flush_standard_output);
  if (!lost.empty()) {
    spdlog::error("{}", lost);
    summary.exit_code = kExitOutput;
  }
  spdlog::default_logger()->flush();
  // Checked after the flush, so that failures to write the log's last lines are included.
  if (output && !output->failure().empty()) summary.exit_code = kExitOutput;
  return summary.exit_code;
}

}  // namespace

int simulate(const CommandLine& line) {
  return simulate(line, {.elf = ElfFile::read(line.input), .name = line.input, .command_line = guest_command_line(line)});
}

int simulate(const CommandLine& line, GuestProgram program) {
  program.elf.require(ElfMachine::riscv);
  const RunParameters parameters(line.configuration, line.command == Command::hart ? Machine::hart : Machine::firmware);
  ConsoleInput console_input(line.console_input);

  ProgressLine progress(!line.quiet);
  ConsoleOutput console(progress);
  open_log(progress);
  route_systemc_reports();

  const PlatformConsole guest_console{[&](std::string_view bytes) { console.write(bytes); },
                                      [&] { return console_input.read(); }};
  const RunPlatform built = build_platform(parameters, guest_console);
  Platform& platform = *built;
  platform.load(program.elf, program.command_line, program.files);
  const auto images = program.code ? program.code : [&] { return embedded_code_objects(program.elf.bytes()); };
  const ImageSourceLines lines(images);
  const ImageTags tags(images);
  KernelLog kernels;
  RunRecorders recorders;
  if (platform.gpu() != nullptr) {
    attach_observers(*platform.gpu(), lines, tags, kernels);
    recorders.add(*platform.gpu(), parameters.values().output);
  }
  StatisticsGroup statistics("platform");
  platform.describe_statistics(statistics);

  const InterruptHandler interrupts;
  // Ignore SIGPIPE: if the reader of standard output closes its pipe, the write fails like any other, and the results are still
  // written.
  std::signal(SIGPIPE, SIG_IGN);
  // Create the folder only after the input has been found valid.
  std::optional<OutputFolder> output = open_output(line);
  if (output) {
    open_results(*output, parameters, kernels, recorders);
    console.record_to(output->begin("console.txt"));
    warn_of_missing_lock(*output);
  }
  const auto lost_output = [&] { return console.failure().empty() && output ? output->failure() : console.failure(); };
  for (const std::string& warning : parameters.warnings()) spdlog::warn("{}", warning);
  for (const std::string& warning : program.warnings) spdlog::warn("{}", warning);

  platform.hart().set_stop_request(InterruptHandler::requested);
  if (line.gdb_port) attach_debugger(platform.hart(), *line.gdb_port);

  const RunObserver observer = observer_of(platform, progress, kernels, [&] { return !lost_output().empty(); });
  const auto begin = std::chrono::steady_clock::now();
  RunEnd end{};
  try {
    end = run_simulation(parameters.values().sim, observer);
  } catch (const std::exception& e) {
    console.flush();
    return report_failure(failure_of(e), platform.hart());
  }
  const double wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (end == RunEnd::guest && platform.hart().stopped_by_trap()) end = RunEnd::lost_trap;
  progress.hide();
  console.flush();
  const std::string reason = reason_with_state(end, platform, parameters.values().sim);
  log_end(end, platform, reason);
  log_guest_mistakes();

  int code = exit_code_of(end, platform, program, line.quiet);
  const std::string lost = lost_output();
  if (!lost.empty()) code = kExitOutput;
  platform.hart().tell_debugger_of_end(code, reason.empty() ? reason : "lacuna: " + reason);
  RunSummary summary = summary_of(end, platform, recorders);
  summary.program = program.name;
  summary.exit_code = code;
  summary.wall_seconds = wall_seconds;
  summary.energy_table = parameters.values().gpu.energy.table;
  summary.run_hash = run_hash(summary, console.text(), kernels, statistics);
  return write_end(line, output, lost, summary, progress, kernels,
                   [&] { write_results(*output, parameters, summary, kernels, recorders.links, statistics); });
}

}  // namespace lacuna
