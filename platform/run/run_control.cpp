#include "platform/run/run_control.h"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <systemc>

#include "models/common/time/tlm_time.h"
#include "platform/run/exit_codes.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

/// Range of host time, in seconds, that a slice should take: short enough for Ctrl-C and the progress line, long compared with
/// the overhead of a slice.
constexpr double kShortSlice = 0.01;
constexpr double kLongSlice = 0.04;
constexpr Tick kSmallestSlice{100'000};
constexpr Tick kLargestSlice{1'000'000'000'000};

// Global, since the signal handler writes it.
volatile std::sig_atomic_t interrupt = 0;

extern "C" void on_interrupt(int signal) {
  if (interrupt != 0) _exit(kExitInterrupted);
  interrupt = signal;
}

/// Advances the SystemC kernel to `target`, or to the last event if that is earlier.
void advance_to(Tick target) {
  sc_core::sc_start(to_sc_time(target) - sc_core::sc_time_stamp(), sc_core::SC_EXIT_ON_STARVATION);
}

}  // namespace

void SimulationParameters::describe(ParameterSection& section) {
  section.add("max_time", max_time, "Simulated time after which the run is ended, 0ps = no limit");
  section.add("max_idle", max_idle,
              "Simulated time without progress (no hart instruction, wavefront instruction or packet, and no timer that could "
              "wake the hart) after which the run is ended as hung",
              {.range = {1e6, 1e16}});
  section.add("threads", threads,
              "Host threads that simulate compute units, at most one for each shader array; 0 = as many as the process "
              "may use processors, one while other processes keep these busy. Without influence on any result",
              {.range = {0, 1024}, .unit = "threads"});
}

const char* run_end_name(RunEnd end) {
  switch (end) {
    case RunEnd::guest:
      return "guest";
    case RunEnd::time_limit:
      return "time limit";
    case RunEnd::no_progress:
      return "no progress";
    case RunEnd::no_events:
      return "no events";
    case RunEnd::interrupted:
      return "interrupted";
    case RunEnd::lost_trap:
      return "lost trap";
    case RunEnd::output_failed:
      return "output";
  }
  return "?";
}

int exit_code(RunEnd end) {
  switch (end) {
    case RunEnd::guest:
      return 0;
    case RunEnd::time_limit:
      return kExitTimeLimit;
    case RunEnd::no_progress:
    case RunEnd::no_events:
      return kExitHung;
    case RunEnd::interrupted:
      return kExitInterrupted;
    case RunEnd::lost_trap:
      return kExitLostTrap;
    case RunEnd::output_failed:
      return kExitOutput;
  }
  return kExitModelError;
}

std::string reason_of(RunEnd end, const SimulationParameters& limits) {
  switch (end) {
    case RunEnd::guest:
      break;
    case RunEnd::interrupted:
      return InterruptHandler::signal() == SIGTERM ? "ended by SIGTERM" : "ended by Ctrl-C";
    case RunEnd::output_failed:
      return "the run ends because its output cannot be written";
    case RunEnd::time_limit:
      return "simulated time limit of " + readable_time(limits.max_time) + " reached (--max-time, sim.max_time)";
    case RunEnd::no_progress:
      return "hung: no progress for " + readable_time(limits.max_idle) + " of simulated time (sim.max_idle)";
    case RunEnd::no_events:
      return "hung: no event is left, and all that runs waits for another part";
    case RunEnd::lost_trap:
      return "ended by a trap whose handler cannot be fetched";
  }
  return {};
}

InterruptHandler::InterruptHandler() {
  interrupt = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptHandler::~InterruptHandler() {
  interrupt = 0;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool InterruptHandler::requested() { return interrupt != 0; }

int InterruptHandler::signal() { return interrupt; }

RunEnd run_simulation(const SimulationParameters& limits, const RunObserver& observer) {
  using HostClock = std::chrono::steady_clock;
  const Tick time_limit = limits.max_time == Tick{} ? kNever : limits.max_time;
  Tick slice = kSmallestSlice;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Tick next_check = kernel_time() + limits.max_idle;
  std::uint64_t progress_at_check = observer.progress();
  while (true) {
    if (observer.ended()) return RunEnd::guest;
    if (InterruptHandler::requested()) return RunEnd::interrupted;
    if (observer.output_failed()) return RunEnd::output_failed;
    const Tick now = kernel_time();
    if (now >= time_limit) return RunEnd::time_limit;
    if (!sc_core::sc_pending_activity()) return RunEnd::no_events;
    if (now >= next_check) {
      const std::uint64_t progress = observer.progress();
      if (progress == progress_at_check && !observer.timer_armed()) return RunEnd::no_progress;
      progress_at_check = progress;
      next_check = now + limits.max_idle;
    }

    // A slice extends at least to the next event: SystemC's time stops at the last event before the target, so it would not
    // advance if the target were before the next event.
    const Tick next_event = now + to_tick(sc_core::sc_time_to_pending_activity());
    if (next_event > time_limit) return RunEnd::time_limit;
    const HostClock::time_point begin = HostClock::now();
    advance_to(later(earlier(earlier(now + slice, next_check), time_limit), next_event));
    const double seconds = std::chrono::duration<double>(HostClock::now() - begin).count();
    if (seconds < kShortSlice) slice = earlier(slice * 2, kLargestSlice);
    if (seconds > kLongSlice) slice = later(Tick{slice.ps / 2}, kSmallestSlice);
    observer.between_slices();
  }
}

}  // namespace lacuna
