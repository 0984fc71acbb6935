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

/// The signal's own action follows: the handler is gone when it returns, and the signal comes again.
extern "C" void on_ending_signal(int signal_number) {
  if (Simulation::on_this_thread() && write(STDERR_FILENO, kSimulatorFailed.data(), kSimulatorFailed.size()) < 0) {
    // Nobody is left to be told.
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

// What the exit handlers of the process have come to: ours is the last of them in a program that is loaded with the library.
bool finalized = false;
bool handler_was_called = false;
int exit_status = 0;  // the program's own, once the handler has been called

/// The last that the process does: lost results are an error, whatever the program thinks of its end, and a failed check is one
/// where the program itself ends with success.
void refuse_silence() {
  Driver* driver = Driver::opened_once();
  if (driver == nullptr) return;
  const bool lost = driver->simulation().results_failed();
  if (!lost && (exit_status != 0 || !any_failed_check())) return;
  std::fflush(nullptr);
  _exit(lost ? kExitOutput : kExitCheckFailed);
}

// A library that is loaded with the program: it is finalized after those that need it and before those that it needs, all of
// them after the program's exit handlers.
__attribute__((destructor)) void on_unload() {
  end_simulation();
  finalized = true;
  if (handler_was_called) refuse_silence();
}

struct AtLoad {
  AtLoad() {
    // The log's registry belongs to a library that we need, and is made when it is first used: now, so that it is destroyed
    // when that library is finalized. What is made after all libraries have been loaded goes before they are finalized.
    spdlog::default_logger_raw();
    // A library that is loaded later: its exit handlers run among the program's, in the reverse order of registration, which is
    // after those of the libraries that need it and before those of the libraries that it needs.
    ::on_exit(
        [](int status, void*) {
          exit_status = status;
          end_simulation();
          handler_was_called = true;
          if (finalized) refuse_silence();
        },
        nullptr);
    // Finalizes nothing.
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
