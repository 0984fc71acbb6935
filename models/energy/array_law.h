// Energy of an SRAM array of another size, and power of a clock tree at another clock, than those that the energies are of.
#pragma once

#include <cmath>

#include "models/common/time/units.h"

namespace lacuna {

struct ArrayLaw {
  /// The energy of an access of given width is in proportion to (size of the array)^exponent.
  double exponent = 0;
  /// Clock that powers of clock trees are of; 0: of any.
  Frequency clock{0};

  /// Factor on the energy of an access. `reference`: size that the energy is of; 0: of any size.
  double access(double size, double reference) const { return reference == 0 ? 1 : std::pow(size / reference, exponent); }
  /// Factor on the leakage: each bit leaks the same.
  static double leakage(double size, double reference) { return reference == 0 ? 1 : size / reference; }
  /// Factor on the power of a clock tree.
  double clocked(Frequency at) const { return clock.hz == 0 ? 1 : static_cast<double>(at.hz) / static_cast<double>(clock.hz); }
  bool operator==(const ArrayLaw&) const = default;
};

}  // namespace lacuna
