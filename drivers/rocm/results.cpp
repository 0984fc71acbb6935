#include "drivers/rocm/results.h"

#include <spdlog/spdlog.h>
#include <unistd.h>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "platform/run/log.h"
#include "platform/run/run_results.h"

namespace lacuna::rocm {
namespace {

std::string program_name() {
  std::error_code status;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", status);
  return status ? "?" : program.string();
}

}  // namespace

Results::Results(const RunParameters& parameters, const Settings& settings) : parameters_(parameters), settings_(settings) {}

void Results::attach(ProcessPlatform& platform) {
  platform_ = &platform;
  for (unsigned i = 0; i < platform.gpus(); ++i) {
    platform.gpu(i).add_observer(kernels_);
    recorders_.add(platform.gpu(i), parameters_.values().output);
  }
}

void Results::open() {
  if (opened_ || !settings_.write_results) return;
  opened_ = true;
  try {
    output_.emplace(settings_.output_folder.empty() ? OutputFolder::numbered("lacuna-out")
                                                    : OutputFolder::claim(settings_.output_folder, settings_.run));
    lock_file_.store(output_->lock().descriptor(), std::memory_order_release);
    open_results(*output_, parameters_, kernels_, recorders_);
    warn_of_missing_lock(*output_);
    spdlog::info("process {}: {}", getpid(), program_name());
  } catch (const std::exception& e) {
    lock_file_.store(-1, std::memory_order_release);
    output_.reset();
    report_failure("no results will be written", e.what());
  }
}

void Results::leave_to_parent() {
  if (const int file = lock_file_.load(std::memory_order_acquire); file >= 0) close(file);
}

void Results::report_failure(const char* what, const char* why) {
  failed_.store(true, std::memory_order_release);
  spdlog::error("{}: {}", what, why);
}

void Results::watch() {
  if (failed() || !output_) return;
  if (const std::string why = output_->failure(); !why.empty()) report_failure("results are being lost", why.c_str());
}

void Results::write(RunEnd end, bool last) {
  if (!opened_) return;
  RunSummary summary;
  summary.program = program_name();
  summary.end = end;
  summary.guest_mistakes = guest_mistakes();
  summary.simulated = kernel_time();
  summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  summary.peak_host_memory_bytes = peak_host_memory();
  for (unsigned i = 0; last && i < platform_->gpus(); ++i) platform_->gpu(i).report_unfinished_kernels();
  recorders_.finish(summary.simulated);
  if (!recorders_.energy.empty()) summary.energy = &recorders_.energy;
  summary.energy_table = parameters_.values().gpu.energy.table;
  StatisticsGroup statistics("platform");
  platform_->describe_statistics(statistics);
  summary.run_hash = run_hash(summary, {}, kernels_, statistics);
  try {
    if (output_) {
      summary.output_folder = output_->path().string();
      write_results(*output_, parameters_, summary, kernels_, recorders_.links, statistics);
    }
  } catch (const std::exception& e) {
    if (!failed()) report_failure("results are lost", e.what());
  }
  if (last) log_guest_mistakes();
  if (last && settings_.report) write_run_report(summary, kernels_, std::cerr);
  spdlog::default_logger()->flush();
}

}  // namespace lacuna::rocm
