// Number of packets in the input of a service queue, computed from the times at which they arrive and leave.
//
// A booked network delivers packets in the order in which they departed, so a packet with a short path may be reported after a
// packet that arrives later. The fill is nevertheless exact: each packet is inserted at its position in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

class InputFill {
 public:
  /// Adds a packet that is in the input from `arrived` until just before `left`. Packets added by later calls do not arrive
  /// before `horizon`. Returns the highest fill during the packet's stay, including the packet, among the packets known so far.
  std::uint64_t add(Tick arrived, Tick left, Tick horizon);
  void reset() { stays_.clear(); }
  /// Number of kept packets, whose stays may overlap with those of packets added later.
  std::size_t kept() const { return stays_.size(); }

 private:
  struct Stay {
    Tick arrived;
    Tick left;
    std::uint64_t fill;  ///< number of packets in the input at this packet's arrival, including this packet
  };

  void retire(Tick horizon);

  std::vector<Stay> stays_;  ///< stays, ascending by arrival
  Tick longest_{};           ///< longest stay of a packet so far
};

}  // namespace lacuna
