// Input files of this folder's launch files, and the results that the host computes for comparison.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace lacuna::validation {

/// The options of a benchmark by name, written as on MGPUSim's command line: "-length 16384".
using Options = std::map<std::string, unsigned>;

/// Throws std::invalid_argument if `problem` is not a list of names with numbers.
Options parse_options(const std::string& problem);

/// Writes the input files of BENCHMARK.launch to a folder. Returns the constants for `--define` of the launch file. Throws
/// std::invalid_argument for an unknown benchmark.
std::map<std::string, unsigned> write_workload(const std::string& benchmark, const Options& options,
                                               const std::filesystem::path& folder);

}  // namespace lacuna::validation
