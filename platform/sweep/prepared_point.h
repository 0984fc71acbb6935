// Command line, environment and key of a point's run.
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

/// Digests of everything that the results of a point depend on, by readable name: "simulator", "configuration", "command",
/// "environment", "file relu.launch".
using PointInputs = std::map<std::string, std::string>;

struct PreparedPoint {
  std::string key;                 ///< digest of all inputs; points with equal keys have equal results
  std::vector<std::string> words;  ///< command line after `lacuna`, without --out and --quiet
  NamedValues environment;
  PointInputs inputs;
};

/// Lists the names of inputs that differ: "simulator, file relu.launch".
std::string difference(const PointInputs& now, const PointInputs& before);

/// Words of a command line for a line of [options]: --NAME VALUE. An option that takes no value is given if the line's value is
/// true, and is omitted if it is false; throws SweepError for other values.
std::vector<std::string> option_words(Command command, const std::string& name, const std::string& value);

/// Builds the runs of a sweep's points. Caches data that points share: programs, workloads and digests of files.
class RunBuilder {
 public:
  /// `folder`: working folder of the points and base of relative file names; must be the current folder. `host_threads`: value
  /// of sim.threads for points whose sweep does not set it.
  RunBuilder(const SweepFile& sweep, std::filesystem::path folder, unsigned host_threads);

  /// Builds the run of a point. Throws SweepError, naming the point and its values, when its command line, configuration or
  /// workload is refused.
  PreparedPoint build(const SweepPoint& point);
  /// Configuration sources of a point in the order in which they are applied.
  std::vector<ConfigurationSource> configuration(const SweepPoint& point);

  /// Digests of the input files of all points built so far; the digest of a program begins with "program:".
  std::map<std::string, std::string> entered_files() const;
  /// Returns an input file that has changed since it was hashed; "" if none.
  std::string changed_file();

  /// The lacuna executable.
  const std::filesystem::path& simulator() const { return simulator_; }

 private:
  /// Time, size and digest of a file when it was read. Time and size are compared first, to avoid computing a digest.
  struct FileState {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    std::string digest;
    bool program = false;  ///< `digest` is program_digest(), not file_digest()

    bool looks_like(const std::filesystem::path& file) const;
  };
  struct Workload {
    std::vector<std::filesystem::path> files;
    std::vector<ConfigurationSource> configuration;  ///< configuration that the workload requests; applied before the user's
  };

  std::vector<std::string> words(const SweepPoint& point);
  /// Resolves the program of a point: a host program without `/` is looked up in the folder, then in PATH. Throws SweepError
  /// with the location of the key and the nearest name.
  const std::string& program(const SweepPoint& point);
  const Workload& workload(const SweepPoint& point, const CommandLine& line);
  std::string effective_configuration(const SweepPoint& point, const CommandLine& line);
  const std::string& digest(const std::filesystem::path& file, bool program = false);

  const SweepFile& sweep_;
  const std::filesystem::path folder_;
  const std::string host_threads_;
  std::filesystem::path simulator_;
  std::filesystem::path simulated_by_;  ///< file hashed as "simulator": the executable, or the ROCm library for exec
  NamedValues inherited_;               ///< inherited environment variables that are part of the inputs
  bool sets_threads_ = false;
  std::map<std::filesystem::path, FileState> files_;
  std::map<std::string, Workload> workloads_;
  std::map<std::string, std::string> configuration_files_;
  std::map<std::string, std::string> programs_;  ///< resolved programs by the names that the sweep uses
};

}  // namespace lacuna
