#include "drivers/rocm/process_end.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <array>
#include <cstdlib>

#include "drivers/rocm/driver.h"

namespace lacuna::rocm {
namespace {

constexpr std::array kEndingSignals{SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// The signal's own action follows: the handler is gone when it returns, and the signal comes again.
extern "C" void on_ending_signal(int signal_number) {
  if (Driver* driver = Driver::opened_once()) driver->simulation().stop_from_signal_handler();
  raise(signal_number);
}

extern "C" void on_exit() {
  if (Driver* driver = Driver::opened_once()) driver->simulation().stop(RunEnd::guest);
}

/// Registered when the library is loaded, after those that it needs and before those that need it: so it runs after the
/// latter's handlers and before the destructors of the former.
struct ExitHandler {
  ExitHandler() {
    // The log's registry is made when it is first used and must still be there when the handler runs.
    spdlog::default_logger_raw();
    std::atexit(on_exit);
    std::at_quick_exit(on_exit);
  }
} exit_handler;

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
