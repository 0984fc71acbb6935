// Number of packets in the input of a service queue, from the times at which they arrive and leave.
//
// A booked network delivers packets in the order in which they departed, so that one that took a short path may be reported
// after another that arrives later. The fill is nevertheless exact: a packet is inserted at its position in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class InputFill {
 public:
  /// Adds a packet that is in the input from `arrived` until just before `left`, which is later. No packet added later arrives
  /// before `horizon`. Returns the highest fill during its stay, including itself, among the packets known so far.
  std::uint64_t add(Tick arrived, Tick left, Tick horizon);
  void reset() { stays_.clear(); }
  /// Number of packets that a later one may still overlap with.
  std::size_t kept() const { return stays_.size(); }

 private:
  struct Stay {
    Tick arrived;
    Tick left;
    std::uint64_t fill;  ///< fill at its arrival: the packet and those before it in `stays_`
  };

  void retire(Tick horizon);

  std::vector<Stay> stays_;  ///< by arrival
  Tick longest_{};           ///< longest stay of a packet so far
};

}  // namespace lacuna
