// The points of a sweep: the run of each combination of values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {

struct SweepPoint {
  std::size_t number = 0;  ///< number of the point, from 1, not counting skipped points
  NamedValues axes;
  NamedValues repeats;

  // Texts of the sweep file, with the point's values inserted.
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> configurations;
  std::vector<std::string> inputs;
  NamedValues settings;  ///< parameters: those of [set], then those of axes
  NamedValues options;
  NamedValues environment;

  /// Values of axes and repetitions.
  NamedValues values() const;
};

/// Names and values as text, such as "l2.size=1MiB n=64".
std::string label(const NamedValues& values);

/// All combinations of values except those that a condition skips. Throws SweepError if none remain.
std::vector<SweepPoint> expand(const SweepFile& sweep);

}  // namespace lacuna
