// The log: messages of level info and above are written to log.txt in the output folder; warnings and errors also go to stderr
// immediately.
//
// Models log through spdlog's default logger. A line starts with the simulated time, so that equal runs have equal logs.
// Mistakes of guests are logged through models/common/config/guest_mistake.h, so that no guest can make the log grow without
// bound.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "platform/run/output_file.h"
#include "platform/run/terminal.h"

namespace lacuna {

/// Installs the logger. `progress` must outlive all logging.
void open_log(ProgressLine& progress);
/// Also logs to this file from now on. Warnings and errors are written immediately.
void log_to_file(std::shared_ptr<OutputFile> file);
/// Errors and warnings in the log.txt of a failed run.
struct LoggedTrouble {
  std::string error;  ///< first line of the first error, with its simulated time; "" = none
  /// First line of the last warning before that error, with its simulated time; "" = none. Ignores counts of guest mistakes.
  std::string last_warning;
};
LoggedTrouble logged_trouble(const std::filesystem::path& log_file);
/// Logs one line with the kinds and counts of the guest's mistakes, if there are any. Call it at the end of a run.
void log_guest_mistakes();
/// Routes SystemC's reports to the log; errors and fatal errors are thrown as sc_core::sc_report.
void route_systemc_reports();

}  // namespace lacuna
