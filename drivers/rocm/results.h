// What a program's run on the virtual GPUs leaves behind: the same output folder as `lacuna run`'s.
//
// Used by the simulation thread only. The folder is made when the first queue is: a program that only asks what GPUs there are
// leaves nothing behind.
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
  /// Makes the output folder unless that has been done. A folder that cannot be made is reported; the run goes on without.
  void open();
  /// Reports, once, that a file of the folder gets no more.
  void watch();
  /// Whether anything that was to be written is lost. From any thread.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Writes what there is so far; with `last`, also kernels that are unfinished, and the report when it is wanted.
  void write(RunEnd end, bool last);
  /// In a child process that fork() has made: the folder is the parent's alone.
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
