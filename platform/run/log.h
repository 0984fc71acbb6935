// The log: warnings and errors to stderr at once, everything from info on to the output folder's log.txt.
//
// Models log through spdlog's default logger. A line starts with the simulated time, so that the log of two equal runs is
// equal. What guests do wrong goes through models/common/config/guest_mistake.h, so that no guest can make the log grow without
// bound.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "platform/run/output_file.h"
#include "platform/run/terminal.h"

namespace lacuna {

/// Installs the logger; `progress` must live as long as anything is logged.
void open_log(ProgressLine& progress);
/// Adds the file. Warnings and errors are in it at once.
void log_to_file(std::shared_ptr<OutputFile> file);
/// What a log.txt says of a run that went wrong.
struct LoggedTrouble {
  std::string error;         ///< first line of the first error, with its simulated time; "" = there is none
  std::string last_warning;  ///< the same of the last warning
};
LoggedTrouble logged_trouble(const std::filesystem::path& log_file);
/// At the end of a run: one line with the kinds of mistakes that the guest made and how often; none when it made none.
void log_guest_mistakes();
/// SystemC's own reports go to the log; errors and fatal ones are thrown as sc_core::sc_report.
void route_systemc_reports();

}  // namespace lacuna
