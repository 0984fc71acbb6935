// Runs the simulation until it ends, and makes sure that it does.
//
// The simulation is advanced in slices of simulated time that take a fraction of a second of host time, between which Ctrl-C is
// heard and the progress line is drawn. Slices depend on the host's speed and have no influence on the simulation; limits
// and the check for progress are at fixed simulated times, so that a run always ends at the same one.
#pragma once

#include <functional>
#include <string>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

/// When a simulation ends although the guest has not.
struct SimulationParameters {
  Tick max_time{};
  Tick max_idle{100'000'000'000};
  unsigned threads = 0;

  void describe(ParameterSection& section);
};

enum class RunEnd {
  guest,          ///< the guest ended itself
  time_limit,     ///< sim.max_time
  no_progress,    ///< nobody got anywhere for sim.max_idle
  no_events,      ///< everybody waits for somebody else
  interrupted,    ///< Ctrl-C
  lost_trap,      ///< the guest trapped, and its handler cannot be fetched
  output_failed,  ///< what the run writes cannot be written
};

/// "guest", "time limit", ... for reports.
const char* run_end_name(RunEnd end);
/// Exit code of the process for an end that is not the guest's own (platform/run/exit_codes.h); 0 for that one.
int exit_code(RunEnd end);
/// Why a run ended that the guest did not end itself, a sentence for the user; empty when it did.
std::string reason_of(RunEnd end, const SimulationParameters& limits);

/// Hears Ctrl-C and termination requests while it lives: the first is remembered, the second ends the process at once.
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

/// What the loop asks of the thing that it runs.
struct RunObserver {
  std::function<bool()> ended;
  std::function<std::uint64_t()> progress;  ///< grows whenever the guest gets anywhere
  std::function<bool()> timer_armed;        ///< waiting is for something that will come
  std::function<bool()> output_failed;      ///< what the run writes gets lost
  std::function<void()> between_slices;     ///< progress line
};

RunEnd run_simulation(const SimulationParameters& limits, const RunObserver& observer);

}  // namespace lacuna
