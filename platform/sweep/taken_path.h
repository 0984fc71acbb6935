// A path in a take, `PATH` or `PATH @ NAME=VALUE, NAME=VALUE`: of the point itself, or of its reference, which is the point
// that has these values and in everything else the point's own, repetitions included.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/sweep/condition.h"
#include "platform/sweep/point_results.h"
#include "platform/sweep/sweep_file.h"

namespace lacuna {

struct TakenPath {
  std::string path;
  NamedValues reference;  ///< empty = of the point itself

  /// Throws SweepError.
  static TakenPath parse(std::string_view text);
  std::string text() const;
};

/// The values of a point's reference. An axis that the point does not have is left out.
NamedValues reference_values(NamedValues values, const NamedValues& reference);

/// The take with the other axes of a [zip] named too, which go with those that are named. Throws SweepError for a name that is
/// no axis and for a value that the axis does not have, with the nearest one.
Take with_zipped_axes(const Take& take, const SweepFile& sweep);

}  // namespace lacuna
