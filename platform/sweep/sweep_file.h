// A sweep file: what is run, the axes that are varied, and what is taken of each run (docs/sweep.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

/// Where something stands: in the sweep file or in one that it includes.
struct SweepPlace {
  std::filesystem::path file;
  unsigned line = 0;  ///< 0 = nowhere

  /// "FILE:LINE: ".
  std::string text() const;
};

/// A `name = value` of a file.
struct SweepKey {
  std::string name;
  std::string value;
  SweepPlace place;
};

/// A name with a dot is a parameter; any other one stands for its value in {…}.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
  SweepPlace place;

  bool is_parameter() const { return name.find('.') != std::string::npos; }
};

/// `until` of [repeat]: how many of the repetitions are run depends on how far they spread.
struct SweepUntil {
  SweepKey key;
  double share = 0;                ///< the interval that is wanted is mean ± this share of it
  std::vector<std::string> takes;  ///< whose means are to be within it; empty = the cycles of all kernels
  /// Repetitions before the first look. A kernel that takes longer in one of eight or sixteen starts, when a refresh of DRAM is
  /// in its way, must have had a chance to show it.
  std::size_t least = 16;
};

struct SweepFile {
  std::filesystem::path file;
  std::string text;  ///< all of it, with the files that it includes at their places
  std::string name;  ///< of the sweep in the database

  // [sweep]
  SweepKey command;  ///< run, launch or exec
  SweepKey program;
  std::vector<SweepKey> arguments;  ///< of the program, behind --
  std::vector<SweepKey> configurations;
  std::vector<SweepKey> inputs;     ///< further files that a point depends on
  std::vector<SweepKey> leave_out;  ///< conditions
  double timeout_seconds = 0;       ///< of the host, for a point; 0 = none
  double grace_seconds = 10;        ///< that a point which is to end has between SIGTERM and SIGKILL
  std::optional<std::filesystem::path> database;

  std::vector<SweepKey> settings;     ///< [set]
  std::vector<SweepKey> options;      ///< [options] of the command
  std::vector<SweepKey> environment;  ///< [environment]
  std::vector<SweepKey> take;         ///< [take]
  std::vector<SweepKey> slurm;        ///< [slurm]

  /// Axes of one group go together; groups are crossed, the last one varies fastest.
  std::vector<std::vector<SweepAxis>> axes;
  /// Crossed with all of these, and samples of the same value.
  std::vector<SweepAxis> repeats;
  std::optional<SweepUntil> until;  ///< nothing = all repetitions are run
};

/// The name of a repetition that changes nothing: the same process once more, for what the host has in it.
inline constexpr const char* kIdenticalRuns = "run";

/// `include = FILE` above the first section reads another file at this place. What follows wins: a value or an axis that is
/// given again replaces the included one; lists (argument, config, input, leave_out, [options]) go on.
/// Throws SweepError with file, line, what is wrong and the nearest legal name. Checks all that can be known without the
/// command, its options and parameters: sections, keys, values, names in {…} and conditions.
SweepFile parse_sweep_file(const std::filesystem::path& file);
SweepFile parse_sweep_text(std::istream& text, const std::filesystem::path& file);

}  // namespace lacuna
