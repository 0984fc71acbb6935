// A configuration of Lacuna that is measured by kernels: launches the kernels of firmware/kernels/micro_*.cl, and returns only
// the core clock cycles that they have read, or the times of dispatches. Only configured() accesses the configured values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lacuna::validation {

/// Contents of a launch's buffer, in 32-bit words.
using Words = std::vector<std::uint32_t>;

/// A chain of dependent loads: byte offset of the first one in the table, and number of loads.
struct Chain {
  std::uint64_t first = 0;
  std::uint64_t hops = 0;
};

/// Memory in which every dword contains the byte offset of the dword `stride` bytes further, except for `links`: pairs (from,
/// to) of byte offsets.
struct ChaseTable {
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> links;
};

/// Returns the folder of the kernels' code objects.
std::string kernels();

class Machine {
 public:
  /// `settings`: name=value, as for --set. `name`: folder below validation/micro of the build directory.
  Machine(std::string name, std::string configuration, std::vector<std::string> settings);

  /// Returns the core cycles of each chain after `warm_ups` earlier passes over the chain. `dispatches` - 1 identical
  /// dispatches precede the measured one.
  std::vector<double> chase(const ChaseTable& table, const std::vector<Chain>& chains, unsigned warm_ups,
                            unsigned dispatches = 1);

  /// Runs a launch file with the given input buffers in the same folder (NAME.bin). Throws std::runtime_error if it fails.
  void launch(const std::string& text, const std::map<std::string, Words>& inputs);
  /// Returns the contents of a file that the last launch saved.
  Words saved(const std::string& file) const;
  /// Returns the time of each dispatch of the kernel in the last launch in nanoseconds, from kernels.csv.
  std::vector<double> dispatch_times(const std::string& kernel) const;
  /// Returns the value of a column of kernels.csv for each dispatch of the kernel in the last launch.
  std::vector<double> dispatch_values(const std::string& kernel, const std::string& column) const;

  /// Returns a parameter's value in the last launch's effective.cfg: sizes in bytes, times in cycles, other values as numbers.
  double configured(const std::string& parameter) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string configuration_;
  std::vector<std::string> settings_;
  std::filesystem::path folder_;
};

}  // namespace lacuna::validation
