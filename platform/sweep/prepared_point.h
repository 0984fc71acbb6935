// A point as it is run: the command line of lacuna, its environment, and the key of everything that enters it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/command_line.h"
#include "platform/sweep/sweep_point.h"

namespace lacuna {

/// What a point depends on, each as a digest under a name for people: "simulator", "configuration", "command", "environment",
/// "file relu.launch".
using PointInputs = std::map<std::string, std::string>;

struct PreparedPoint {
  std::string key;                 ///< digest of all inputs: equal keys, equal results
  std::vector<std::string> words;  ///< behind `lacuna`, without --out and --quiet
  NamedValues environment;
  PointInputs inputs;
};

/// Why the results of one set of inputs say nothing of another: the names that differ, "simulator, file relu.launch".
std::string difference(const PointInputs& now, const PointInputs& before);

/// Prepares the points of one sweep, and remembers what they have in common.
class PointPreparer {
 public:
  /// `folder` is where points run and where relative names of files begin: the current one; `host_threads` is the sim.threads
  /// of points whose sweep says nothing of it.
  PointPreparer(const SweepFile& sweep, std::filesystem::path folder, unsigned host_threads);

  /// Throws SweepError naming the point and its values when its command line, configuration or workload is refused.
  PreparedPoint prepare(const SweepPoint& point);
  /// The configuration of a point, in the order in which it is applied.
  std::vector<ConfigurationSource> configuration(const SweepPoint& point);

  /// Files that have entered points so far, with their digests; that of a program begins with "program:".
  std::map<std::string, std::string> entered_files() const;
  /// A file that has entered points and is not any more what it was then; "" when there is none.
  std::string changed_file();

  /// The lacuna program, for commands that are to be run.
  const std::filesystem::path& simulator() const { return simulator_; }

 private:
  /// Of a file when it was read: cheap to ask for.
  struct FileState {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    std::string digest;
    bool program = false;  ///< program_digest(), not file_digest()

    bool looks_like(const std::filesystem::path& file) const;
  };
  struct Workload {
    std::vector<std::filesystem::path> files;
    std::vector<ConfigurationSource> configuration;  ///< that it asks for, before that of the user
  };

  std::vector<std::string> words(const SweepPoint& point);
  /// As the point's command has it: a host program that is a mere name is looked for in the folder, then in PATH. Throws
  /// SweepError with the place of the key and the nearest name.
  const std::string& program(const SweepPoint& point);
  const Workload& workload(const SweepPoint& point, const CommandLine& line);
  std::string effective_configuration(const SweepPoint& point, const CommandLine& line);
  const std::string& digest(const std::filesystem::path& file, bool program = false);

  const SweepFile& sweep_;
  const std::filesystem::path folder_;
  const std::string host_threads_;
  std::filesystem::path simulator_;
  std::filesystem::path simulated_by_;  ///< the simulator, or the library that is one
  NamedValues inherited_;               ///< variables of the process's own environment that enter a point
  bool sets_threads_ = false;
  std::map<std::filesystem::path, FileState> files_;
  std::map<std::string, Workload> workloads_;
  std::map<std::string, std::string> configuration_files_;
  std::map<std::string, std::string> programs_;  ///< as they are started, by what the sweep calls them
};

}  // namespace lacuna
