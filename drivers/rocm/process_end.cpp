#include "drivers/rocm/process_end.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "drivers/rocm/driver.h"
#include "drivers/rocm/missing_code.h"
#include "models/common/config/guest_mistake.h"
#include "platform/run/exit_codes.h"

namespace lacuna::rocm {
namespace {

constexpr std::array kEndingSignals{SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

constexpr std::string_view kSimulatorFailed =
    "lacuna: the simulation thread got a signal; a kernel may have used memory of the host that the program has unmapped while "
    "it "
    "was registered\n";

/// Ends the simulation, then raises the signal again, whose default action follows: SA_RESETHAND has removed this handler.
extern "C" void on_ending_signal(int signal_number) {
  if (Simulation::on_this_thread() && write(STDERR_FILENO, kSimulatorFailed.data(), kSimulatorFailed.size()) < 0) {
    // A failed write to stderr cannot be reported anywhere.
  }
  if (Driver* driver = Driver::opened_once()) {
    if (signal_number == SIGABRT) report_missing_code();
    driver->simulation().stop_from_signal_handler(signal_number);
  }
  raise(signal_number);
}

void end_simulation() {
  if (Driver* driver = Driver::opened_once()) driver->simulation().stop(RunEnd::guest);
}

// Progress of the process's exit. How the library was loaded determines whether it is finalized before or after its exit
// handler is called; see below.
bool finalized = false;
bool handler_was_called = false;
int exit_status = 0;  // the program's exit status; set by the exit handler

/// The last action of the process: replaces its exit code if results were lost, regardless of the program's own exit code, or
/// if a check failed and the program ends with success.
void refuse_silence() {
  Driver* driver = Driver::opened_once();
  if (driver == nullptr) return;
  const bool lost = driver->simulation().results_failed();
  if (!lost && (exit_status != 0 || !any_failed_check())) return;
  std::fflush(nullptr);
  _exit(lost ? kExitOutput : kExitCheckFailed);
}

// Ends the simulation if this library was loaded with the program. Libraries are then finalized after the program's exit
// handlers: first those that need this library, then this library, then those that it needs.
__attribute__((destructor)) void on_unload() {
  end_simulation();
  finalized = true;
  if (handler_was_called) refuse_silence();
}

struct AtLoad {
  AtLoad() {
    // The log's registry is a static object of another library, created at its first use. Create it now, while libraries are
    // loaded, so that it is destroyed when that library is finalized: objects created later are destroyed before any library is
    // finalized.
    spdlog::default_logger_raw();
    // Ends the simulation if this library was loaded later. Exit handlers run in the reverse order of registration: first those
    // of the libraries that need this library, then its own, then those of the libraries that it needs.
    ::on_exit(
        [](int status, void*) {
          exit_status = status;
          end_simulation();
          handler_was_called = true;
          if (finalized) refuse_silence();
        },
        nullptr);
    // quick_exit() does not finalize libraries.
    std::at_quick_exit([] {
      end_simulation();
      refuse_silence();
    });
  }
} at_load;

}  // namespace

void watch_process_end() {
  for (const int number : kEndingSignals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = on_ending_signal;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, nullptr);
  }
}

}  // namespace lacuna::rocm
