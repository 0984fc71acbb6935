// Runs the simulation until it ends, and enforces limits.
//
// The simulation advances in slices of simulated time that take a fraction of a second of host time, between which Ctrl-C is
// handled and the progress line is drawn. Slices depend on the host's speed and do not affect the simulation; limits and the
// check for progress are at fixed simulated times, so that a run always ends at the same time.
#pragma once

#include <functional>
#include <string>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

/// Limits at which a simulation ends although the guest has not exited, and the number of host threads.
struct SimulationParameters {
  Tick max_time{};
  Tick max_idle{100'000'000'000};
  unsigned threads = 0;

  void describe(ParameterSection& section);
};

enum class RunEnd {
  guest,          ///< the guest exited
  time_limit,     ///< sim.max_time
  no_progress,    ///< no progress for sim.max_idle
  no_events,      ///< no pending events
  interrupted,    ///< Ctrl-C
  lost_trap,      ///< the guest trapped to a handler that cannot be fetched
  output_failed,  ///< output cannot be written
};

/// "guest", "time limit", ... for reports.
const char* run_end_name(RunEnd end);
/// Exit code of the process for an end other than the guest's exit (platform/run/exit_codes.h); 0 for the guest's exit.
int exit_code(RunEnd end);
/// Reason why a run has ended, as a sentence for the user; empty if the guest exited.
std::string reason_of(RunEnd end, const SimulationParameters& limits);

/// Handles Ctrl-C and SIGTERM during the object's lifetime: the first is recorded, the second ends the process immediately.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  static bool requested();
  /// SIGINT or SIGTERM, whichever was first; 0 = none.
  static int signal();
};

/// Functions by which the loop observes the simulation.
struct RunObserver {
  std::function<bool()> ended;
  std::function<std::uint64_t()> progress;  ///< increases while the guest makes progress
  std::function<bool()> timer_armed;        ///< whether a timer interrupt is enabled and will be raised later
  std::function<bool()> output_failed;      ///< whether output has been lost
  std::function<void()> between_slices;     ///< draws the progress line
};

RunEnd run_simulation(const SimulationParameters& limits, const RunObserver& observer);

}  // namespace lacuna
