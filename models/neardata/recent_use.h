// Recent use of a unit of a core by the core's own instructions. A service queue at the core's node gets the rest.
//
// The core counts the cycles in which the unit is busy while a window runs; the service queue asks between windows. The count
// and the times of the queries do not depend on the number of threads, and neither do the shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/common/time/units.h"

namespace lacuna {

class RecentUse {
 public:
  /// Unit of shares.
  static constexpr unsigned kWhole = 1024;

  /// Share of the cycles before `at` in which the unit was busy, in units of 1/kWhole. `busy`: busy cycles since the start of
  /// the simulation, summed over `instances` of the unit.
  unsigned share(std::uint64_t busy, Tick at, const Clock& clock, unsigned instances = 1) {
    if (!since_) {
      since_ = at;
      before_ = busy;
    }
    const std::uint64_t cycles = at > *since_ ? clock.floor(at - *since_).n : 0;
    if (cycles >= kLeastCycles) {
      share_ = static_cast<unsigned>(std::min<std::uint64_t>(kWhole, (busy - before_) * kWhole / (cycles * instances)));
      before_ = busy;
      since_ = at;
    }
    return share_;
  }
  /// Time that other work takes in the remaining cycles, of which it gets at least a sixteenth. `alone`: its time if the core
  /// does not use the unit.
  static Tick in_the_rest(Tick alone, unsigned share) {
    return Tick{alone.ps * kWhole / std::max(kWhole - share, kWhole / 16)};
  }
  /// Starts anew: the next query begins the first measurement, so that it does not depend on the time of the reset.
  void reset() { *this = {}; }

 private:
  /// Minimum number of cycles of a measurement.
  static constexpr std::uint64_t kLeastCycles = 64;

  std::uint64_t before_ = 0;     ///< busy cycles when the last measurement ended
  std::optional<Tick> since_{};  ///< end of the last measurement; nullopt: none has begun
  unsigned share_ = 0;           ///< its result
};

}  // namespace lacuna
