// Number of packets in the input of a service queue, from the times at which they arrive and leave.
//
// A booked network delivers packets in the order in which they departed, so that one that took a short path may be reported
// after another that arrives later. The fill is exact all the same: a packet is entered at its place in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class InputFill {
 public:
  /// Adds a packet that is in the input from `arrived` until just before `left`, which is later. No packet that is added from
  /// now on arrives before `horizon`. Returns the highest fill during its stay, itself included, as far as packets are known.
  std::uint64_t add(Tick arrived, Tick left, Tick horizon);
  void reset() { stays_.clear(); }
  /// Packets that a later one may still meet.
  std::size_t kept() const { return stays_.size(); }

 private:
  struct Stay {
    Tick arrived;
    Tick left;
    std::uint64_t fill;  ///< at its arrival, itself and those before it in `stays_` included
  };

  void retire(Tick horizon);

  std::vector<Stay> stays_;  ///< by arrival
  Tick longest_{};           ///< stay of a packet so far
};

}  // namespace lacuna
