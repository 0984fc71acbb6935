// Message and exit code for an exception that was not handled, by its cause.
#pragma once

#include <exception>
#include <string>

namespace lacuna {

struct RunFailure {
  int exit_code;  ///< platform/run/exit_codes.h
  std::string text;
};

/// Causes: output that cannot be written; a host without memory, threads or files; an error that a model has reported to
/// SystemC, which includes all exceptions within a SystemC process; all others are errors of the simulator.
RunFailure failure_of(const std::exception& e);

/// For programs of Lacuna: an exception that leaves a thread, or is thrown where none may be, ends the process with its message
/// and exit code instead of abort().
void report_uncaught_exceptions();

}  // namespace lacuna
