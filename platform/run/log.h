// The log: warnings and errors are written to stderr immediately, everything from info on to log.txt in the output folder.
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

/// Installs the logger; `progress` must exist as long as anything is logged.
void open_log(ProgressLine& progress);
/// Adds the file. Warnings and errors are written to it immediately.
void log_to_file(std::shared_ptr<OutputFile> file);
/// Errors and warnings in the log.txt of a failed run.
struct LoggedTrouble {
  std::string error;         ///< first line of the first error, with its simulated time; "" = there is none
  std::string last_warning;  ///< first line of the last warning, with its simulated time; "" = there is none
};
LoggedTrouble logged_trouble(const std::filesystem::path& log_file);
/// Call it at the end of a run: logs one line with the kinds of mistakes that the guest made and their counts, if there are
/// any.
void log_guest_mistakes();
/// Routes SystemC's reports to the log; errors and fatal ones are thrown as sc_core::sc_report.
void route_systemc_reports();

}  // namespace lacuna
