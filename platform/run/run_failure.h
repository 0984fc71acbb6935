// Message and exit code for an exception that was not handled, by its cause.
#pragma once

#include <exception>
#include <string>

namespace lacuna {

struct RunFailure {
  int exit_code;  ///< platform/run/exit_codes.h
  std::string text;
};

/// Determines the cause of an exception: output that cannot be written; a host without memory, threads or files; an error that
/// a model reported to SystemC, including all exceptions within a SystemC process; otherwise an error of the simulator.
RunFailure failure_of(const std::exception& e);

/// Installs a handler, for programs of Lacuna: an exception that leaves a thread or a noexcept function ends the process with a
/// message and an exit code instead of abort().
void report_uncaught_exceptions();

}  // namespace lacuna
