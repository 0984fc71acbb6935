// Runs points as processes of lacuna, several at a time.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/sweep/results_database.h"

namespace lacuna {

/// A process to be run, and a name for its folder that no other one has.
struct PointTask {
  std::size_t index = 0;  ///< the caller's
  std::string key;
  std::vector<std::string> words;
  NamedValues environment;
};

/// How a process ended.
struct PointEnd {
  PointState state = PointState::failed;
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  int signal = 0;     ///< that ended it; 0 = it ended itself
  std::string why;    ///< what the log of the process cannot say: "not ended after 10 s"
  double seconds = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< not below that of the process that started it (vfork(2))
  std::string host;
  std::string date;
};

/// In the folder of a point: what it wrote to its standard streams, and its output folder.
inline constexpr const char* kPointLog = "log.txt";
inline constexpr const char* kPointOutput = "out";

class HeldSignals;

class PointRunner {
 public:
  struct Setup {
    std::filesystem::path simulator;
    std::filesystem::path run_in;   ///< the processes' current folder
    std::filesystem::path folders;  ///< where each process gets a folder, named by its index
    unsigned jobs = 1;
    double timeout_seconds = 0;  ///< 0 = none
    double grace_seconds = 10;   ///< from SIGTERM to SIGKILL
  };
  struct Observer {
    /// Null when there is nothing left to start.
    std::function<const PointTask*()> next;
    /// Returns false to end: what runs is ended, nothing else is started.
    std::function<bool(const PointTask& task, const PointEnd& end, const std::filesystem::path& folder)> ended;
    /// Called between, a few times a second.
    std::function<void(std::size_t running)> progress;
    /// What runs is being ended, because of Ctrl-C or SIGTERM.
    std::function<void(std::size_t running)> ending;
  };

  explicit PointRunner(Setup setup) : setup_(std::move(setup)) {}
  /// Returns when all has ended. False: it was to end before that, by Ctrl-C, SIGTERM or the observer; what was running then
  /// was ended and is not reported. Throws SweepError when no process can be started, WriteError when its log cannot be
  /// written.
  ///
  /// A point that is to end, with all processes of its group, gets SIGTERM, at which a run writes its results, and SIGKILL
  /// when the grace is over, or at a second Ctrl-C.
  bool run(const Observer& observer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    const PointTask* task;
    Clock::time_point begin;
    bool timed_out = false;
    Clock::time_point kill_at{};      ///< once it has timed out
    std::optional<PointEnd> ended{};  ///< that of its first process; others of its group may still write
  };
  using Group = std::map<pid_t, Running>::iterator;

  void start(const PointTask& task);
  PointEnd end_of(const Running& running, int status, const rusage& usage);
  /// The processes that have ended are no longer among those that run; false when the observer wants no more.
  bool collect(const Observer& observer);
  bool report(Group group, const Observer& observer);
  bool enforce_timeout(const Observer& observer);
  void end_all(const HeldSignals& signals);
  std::filesystem::path folder(const PointTask& task) const;

  Setup setup_;
  bool starting_ = true;  ///< what ends makes room for the next one
  std::map<pid_t, Running> running_;
  std::optional<std::uint64_t> out_of_memory_kills_;  ///< so far
};

/// A command as a shell takes it, with the variables before it.
std::string shell_command(const std::filesystem::path& simulator, const std::vector<std::string>& words,
                          const NamedValues& environment);

/// The record of a point that has ended, from its folder.
PointRecord record_of(const std::string& key, const PointInputs& inputs, const std::string& command, const PointEnd& end,
                      const std::filesystem::path& folder);

}  // namespace lacuna
