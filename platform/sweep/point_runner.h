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

/// A process to run.
struct PointTask {
  std::size_t index = 0;  ///< unique number chosen by the caller: names the folder of the process
  std::string key;
  std::vector<std::string> words;
  NamedValues environment;
};

/// Outcome and resource usage of a process.
struct RunResult {
  PointState state = PointState::failed;
  int exit_code = 0;  ///< exit status, or 128 + `signal`
  int signal = 0;     ///< terminating signal; 0 = none
  std::string why;    ///< reason that is not in the log of the process, such as "not ended after 10 s"
  double seconds = 0;
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< maximum resident set; at least that of the parent process (vfork(2))
  std::string host;
  std::string date;
};

/// Names in the folder of a point: the log of its standard streams, and its output folder.
inline constexpr const char* kPointLog = "log.txt";
inline constexpr const char* kPointOutput = "out";

class HeldSignals;

class PointRunner {
 public:
  struct Setup {
    std::filesystem::path simulator;
    std::filesystem::path run_in;   ///< working directory of the processes
    std::filesystem::path folders;  ///< parent of the folders of the processes, which are named by index
    unsigned jobs = 1;
    double timeout_seconds = 0;  ///< wall time limit of a process; 0 = none
    double grace_seconds = 10;   ///< time from SIGTERM to SIGKILL
  };
  struct Observer {
    /// Returns the next process to start; null when none is left.
    std::function<const PointTask*()> next;
    /// Called with the result of a process. Returns false to stop: running processes are ended and no others are started.
    std::function<bool(const PointTask& task, const RunResult& result, const std::filesystem::path& folder)> ended;
    /// Called a few times a second while processes run.
    std::function<void(std::size_t running)> progress;
    /// Called when Ctrl-C or SIGTERM ends the running processes.
    std::function<void(std::size_t running)> ending;
  };

  explicit PointRunner(Setup setup) : setup_(std::move(setup)) {}
  /// Runs until all points finish. Returns false if interrupted (Ctrl-C, SIGTERM or the observer); running points are ended and
  /// not reported. Throws SweepError when a process cannot be started, WriteError when its log cannot be written.
  ///
  /// To end a point, its process group receives SIGTERM, upon which a run writes its results, and SIGKILL after the grace time
  /// or on a second Ctrl-C.
  bool run(const Observer& observer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    const PointTask* task;
    Clock::time_point begin;
    bool timed_out = false;
    Clock::time_point kill_at{};        ///< time of SIGKILL, valid if timed_out
    std::optional<RunResult> result{};  ///< result of the group's first process; other processes of the group may still write
  };
  using Group = std::map<pid_t, Running>::iterator;

  void start(const PointTask& task);
  RunResult result_of(const Running& running, int status, const rusage& usage);
  /// Reaps ended processes and reports them. Returns false when the observer stops.
  bool collect(const Observer& observer);
  bool report(Group group, const Observer& observer);
  bool enforce_timeout(const Observer& observer);
  void end_all(const HeldSignals& signals);
  std::filesystem::path folder(const PointTask& task) const;

  Setup setup_;
  bool starting_ = true;  ///< whether to start the next process when a process has ended
  std::map<pid_t, Running> running_;
  std::optional<std::uint64_t> out_of_memory_kills_;  ///< OOM kills in this control group seen so far
};

/// A shell command line that starts with the assignments of variables.
std::string shell_command(const std::filesystem::path& simulator, const std::vector<std::string>& words,
                          const NamedValues& environment);

/// Builds the record of an ended point from its folder.
PointRecord record_of(const std::string& key, const PointInputs& inputs, const std::string& command, const RunResult& result,
                      const std::filesystem::path& folder);

}  // namespace lacuna
