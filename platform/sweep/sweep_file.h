// A sweep file: the command to run, the axes to vary, and the metrics of each run (docs/guide/sweep.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "platform/command_line.h"

namespace lacuna {

/// A location in the sweep file or in a file that it includes.
struct SweepPlace {
  std::filesystem::path file;
  unsigned line = 0;  ///< 0 = none

  /// "FILE:LINE: " for messages.
  std::string text() const { return file.string() + ':' + std::to_string(line) + ": "; }
};

/// A line `name = value` of a file.
struct SweepKey {
  std::string name;
  std::string value;
  SweepPlace place;
};

/// An axis. A name with a dot is a parameter; any other name is a placeholder {NAME} for the value.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
  SweepPlace place;

  bool is_parameter() const { return name.find('.') != std::string::npos; }
};

/// `until` of [repeat]: the number of repetitions depends on their spread.
struct SweepUntil {
  SweepKey key;
  double share = 0;                  ///< wanted half-width of the confidence interval, as a share of the mean
  std::vector<std::string> metrics;  ///< names of the metrics that must reach `share`; empty = cycles of all kernels
  /// Minimum number of repetitions: enough to sample a kernel that is slower in one of eight or sixteen starts because of a
  /// DRAM refresh.
  std::size_t least = 16;
};

struct SweepFile {
  /// Points are runs of the sparse dataflow accelerator without a GPU: `program` is one of its programs, not a file.
  bool is_sida() const { return command.value == "sida"; }

  std::filesystem::path file;
  std::string text;  ///< whole text, with included files inserted
  std::string name;  ///< name of the sweep in the database

  // Keys of section [sweep].
  SweepKey command;  ///< run, launch, exec or sida
  SweepKey program;
  std::vector<SweepKey> arguments;  ///< arguments of the program, after --
  std::vector<SweepKey> configurations;
  std::vector<SweepKey> inputs;       ///< additional input files of a point
  std::vector<SweepKey> leave_out;    ///< conditions under which points are skipped
  std::optional<SweepKey> overnight;  ///< condition of points that two processors can run in one night
  bool overnight_only = false;        ///< whether to skip all other points
  double timeout_seconds = 0;         ///< wall time limit of a point; 0 = none
  double grace_seconds = 10;          ///< time from SIGTERM to SIGKILL when a point is ended
  std::optional<std::filesystem::path> database;

  std::vector<SweepKey> settings;     ///< [set]
  std::vector<SweepKey> options;      ///< [options] of the command
  std::vector<SweepKey> environment;  ///< [environment]
  std::vector<SweepKey> metrics;      ///< [metrics]
  std::vector<SweepKey> slurm;        ///< [slurm]
  /// `files_of = AXIS by LABEL`: with --files, values of AXIS are files of a folder (platform/sweep/axis_files.h).
  std::optional<SweepKey> files_of;
  std::vector<SweepKey> files;  ///< [files]: the file for each value of LABEL

  /// Groups of axes. Axes of a group vary together; groups are crossed, and the last group varies fastest.
  std::vector<std::vector<SweepAxis>> axes;
  /// Axes of [repeat]: crossed with `axes`; their points are samples of the same value.
  std::vector<SweepAxis> repeats;
  std::optional<SweepUntil> until;  ///< empty = all repetitions are run
};

/// The command that runs the points.
Command command_of(const SweepFile& sweep);

/// Name of a repetition that changes no input: identical runs, for measurements of host time.
inline constexpr const char* kIdenticalRuns = "run";

/// `include = FILE` before the first section inserts another file. Later values win: a value or an axis that is given again
/// replaces the included one; lists (argument, config, input, leave_out, [options]) are extended.
///
/// Throws SweepError with file, line, the problem and the nearest legal name. Checks everything that does not depend on the
/// command, its options and parameters: sections, keys, values, names in {…} and conditions.
SweepFile parse_sweep_file(const std::filesystem::path& file);
SweepFile parse_sweep_text(std::istream& text, const std::filesystem::path& file);

}  // namespace lacuna
