// Scales energies of SRAM arrays to other sizes, and powers of clock trees to other clocks, than those of the reference.
#pragma once

#include <cmath>

#include "models/common/time/units.h"

namespace lacuna {

struct ArrayLaw {
  /// The energy of an access of given width is proportional to (size of the array)^exponent.
  double exponent = 0;
  /// Reference clock of the powers of clock trees; 0: the powers apply at any clock.
  Frequency clock{0};

  /// Factor on the energy of an access. `reference`: size to which the energy applies; 0: any size.
  double access(double size, double reference) const { return reference == 0 ? 1 : std::pow(size / reference, exponent); }
  /// Factor on the leakage, which is proportional to the size.
  static double leakage(double size, double reference) { return reference == 0 ? 1 : size / reference; }
  /// Factor on the power of a clock tree.
  double clocked(Frequency at) const { return clock.hz == 0 ? 1 : static_cast<double>(at.hz) / static_cast<double>(clock.hz); }
  bool operator==(const ArrayLaw&) const = default;
};

}  // namespace lacuna
