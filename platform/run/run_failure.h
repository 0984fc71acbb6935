// What an exception that nothing has handled means to the user: whose fault it is decides sentence and exit code.
#pragma once

#include <exception>
#include <string>

namespace lacuna {

struct RunFailure {
  int exit_code;  ///< platform/run/exit_codes.h
  std::string text;
};

/// Output that cannot be written; the host without memory, threads or files; a model that has reported an error to SystemC, as
/// every exception within a SystemC process is; and what remains, a mistake of the simulator's own.
RunFailure failure_of(const std::exception& e);

/// For a program of ours: an exception that leaves a thread, or arises where none may, ends the process with its sentence and
/// exit code instead of abort().
void report_uncaught_exceptions();

}  // namespace lacuna
