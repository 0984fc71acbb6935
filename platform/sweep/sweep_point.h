// The points of a sweep: the run of each combination of values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {

struct SweepPoint {
  std::size_t number = 0;  ///< from 1, among those that are not skipped
  NamedValues axes;
  NamedValues repeats;

  // Texts of the file with these values inserted:
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> configurations;
  std::vector<std::string> inputs;
  NamedValues settings;  ///< parameters: those of [set], then those of axes
  NamedValues options;
  NamedValues environment;

  /// Axes and repeats.
  NamedValues values() const;
};

/// "l2.size=1MiB n=64".
std::string label(const NamedValues& values);

/// All combinations, without those that a condition skips. Throws SweepError if none remain.
std::vector<SweepPoint> expand(const SweepFile& sweep);

}  // namespace lacuna
