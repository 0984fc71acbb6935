// The points of a sweep: what each combination of values runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep/condition.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {

struct SweepPoint {
  std::size_t number = 0;  ///< from 1, among those that are not left out
  NamedValues axes;
  NamedValues repeats;

  // The file's texts with these values.
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> configurations;
  std::vector<std::string> inputs;
  NamedValues settings;  ///< parameters: of [set], then of axes
  NamedValues options;
  NamedValues environment;

  /// Axes and repeats.
  NamedValues values() const;
};

/// "l2.size=1MiB n=64".
std::string label(const NamedValues& values);

/// Every combination, without those that a condition leaves out. Throws SweepError when none is left.
std::vector<SweepPoint> expand(const SweepFile& sweep);

}  // namespace lacuna
