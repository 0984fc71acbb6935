// Runs points as processes of lacuna, several at a time.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
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

class PointRunner {
 public:
  struct Setup {
    std::filesystem::path simulator;
    std::filesystem::path run_in;   ///< the processes' current folder
    std::filesystem::path folders;  ///< where each process gets a folder, named by its index
    unsigned jobs = 1;
    double timeout_seconds = 0;  ///< 0 = none
  };
  struct Observer {
    /// Null when there is nothing left to start.
    std::function<const PointTask*()> next;
    /// Returns false to end: what runs is killed, nothing else is started.
    std::function<bool(const PointTask& task, const PointEnd& end, const std::filesystem::path& folder)> ended;
    /// Called between, a few times a second.
    std::function<void(std::size_t running)> progress;
  };

  explicit PointRunner(Setup setup) : setup_(std::move(setup)) {}
  /// Returns when all has ended. False: it was to end before that, by Ctrl-C, SIGTERM or the observer; what was running was
  /// killed and is not told. Throws SweepError when no process can be started.
  bool run(const Observer& observer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    const PointTask* task;
    Clock::time_point begin;
    bool timed_out = false;
  };

  void start(const PointTask& task);
  bool collect(const Observer& observer);
  void enforce_timeout();
  void kill_all();
  std::filesystem::path folder(const PointTask& task) const;

  Setup setup_;
  std::map<pid_t, Running> running_;
};

/// A command as a shell takes it, with the variables before it.
std::string shell_command(const std::filesystem::path& simulator, const std::vector<std::string>& words,
                          const NamedValues& environment);

/// The record of a point that has ended, from its folder.
PointRecord record_of(const std::string& key, const PointInputs& inputs, const std::string& command, const PointEnd& end,
                      const std::filesystem::path& folder);

}  // namespace lacuna
