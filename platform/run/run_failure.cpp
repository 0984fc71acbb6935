#include "platform/run/run_failure.h"

#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <systemc>

#include "platform/run/exit_codes.h"
#include "platform/run/whole_file.h"

namespace lacuna {
namespace {

constexpr const char* kNoMemory = "the host has no memory left for this; a limit (ulimit -v) may be too low";

/// Whether a report is for std::bad_alloc: SystemC converts an exception that leaves a SystemC process to a report with the
/// exception's text.
bool was_bad_alloc(const sc_core::sc_report& report) {
  return report.get_msg() != nullptr && std::strcmp(report.get_msg(), std::bad_alloc().what()) == 0;
}

void say(const char* text) {
  // A failure of this write cannot be reported.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_by_uncaught_exception() {
  int code = kExitInternalError;
  say("lacuna: ");
  try {
    if (const std::exception_ptr e = std::current_exception()) std::rethrow_exception(e);
    say("internal error: std::terminate() was called");
  } catch (const std::bad_alloc&) {
    say(kNoMemory);
    code = kExitHost;
  } catch (const std::exception& e) {
    const RunFailure failure = failure_of(e);
    say(failure.text.c_str());
    code = failure.exit_code;
  } catch (...) {
    say("internal error: an exception of an unknown type");
  }
  say("\n");
  _exit(code);
}

}  // namespace

RunFailure failure_of(const std::exception& e) {
  if (dynamic_cast<const WriteError*>(&e) != nullptr) return {kExitOutput, e.what()};
  const auto* const report = dynamic_cast<const sc_core::sc_report*>(&e);
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr || (report != nullptr && was_bad_alloc(*report)))
    return {kExitHost, kNoMemory};
  if (dynamic_cast<const std::system_error*>(&e) != nullptr)
    return {kExitHost, std::string("the host refuses a resource: ") + e.what()};
  if (report != nullptr) return {kExitModelError, std::string("model error: ") + e.what()};
  return {kExitInternalError, std::string("internal error: ") + e.what()};
}

void report_uncaught_exceptions() { std::set_terminate(end_by_uncaught_exception); }

}  // namespace lacuna
