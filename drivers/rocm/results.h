// Results of a program's run on the virtual GPUs: the same output folder as that of `lacuna run`.
//
// Used on the simulation thread only, except where noted. The folder is created with the first queue, so a program that only
// queries the GPUs creates none.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "drivers/rocm/settings.h"
#include "models/common/config/statistics.h"
#include "platform/process_platform.h"
#include "platform/run/kernel_log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_recorders.h"
#include "platform/run/run_report.h"

namespace lacuna::rocm {

class Results {
 public:
  Results(const RunParameters& parameters, const Settings& settings);

  /// `platform` outlives the results.
  void attach(ProcessPlatform& platform);
  const KernelLog& kernels() const { return kernels_; }
  /// Creates the output folder at the first call. On failure, reports the error; the run then continues without results.
  void open();
  /// Checks the files of the folder; reports only the first failed write.
  void watch();
  /// Whether any results were lost. From any thread.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Writes the results so far; with `last`, also unfinished kernels, and the report if the settings request it.
  void write(RunEnd end, bool last);
  /// Called in a forked child: closes its copy of the folder's lock, so that the folder belongs to the parent alone.
  void leave_to_parent();

 private:
  void report_failure(const char* what, const char* why);

  const RunParameters& parameters_;
  const Settings& settings_;
  ProcessPlatform* platform_ = nullptr;
  KernelLog kernels_;
  RunRecorders recorders_;
  bool opened_ = false;
  std::optional<OutputFolder> output_;
  std::atomic<int> lock_file_{-1};
  std::atomic<bool> failed_{false};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace lacuna::rocm
