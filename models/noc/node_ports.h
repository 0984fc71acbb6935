// Injection and ejection ports of nodes, for fabrics in which packets contend nowhere else.
//
// A port carries one flit per cycle, or `flits` of them at a node that is widened. The head of a packet reaches the ejection
// port `hop` cycles after it left the injection port (cut-through), the last flit at the rate of the narrower port: one per
// cycle. Virtual networks share both ports. The two ends of a packet's path may belong to different host threads: depart()
// accesses the sender's node only, arrive() the receiver's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "models/common/time/slot_calendar.h"
#include "models/common/time/units.h"

namespace lacuna {

class NodePorts {
 public:
  /// Arrival of a packet's last flit, and the time that the packet waited between being ready and arriving.
  struct Arrival {
    Tick at;
    Tick waiting;
  };

  NodePorts(Clock clock, Cycles hop, unsigned nodes) : clock_(clock), hop_(hop), ports_(nodes) {}

  /// Lets both ports of a node carry `flits` flits per cycle, a power of two. Call it before the first packet, or after
  /// reset().
  void widen(unsigned node, unsigned flits) { ports_[node].width = static_cast<unsigned>(std::countr_zero(flits)); }
  /// Books the departure of a packet that is ready at `at`. Returns the cycle in which the head reaches the receiver's port.
  Cycles depart(unsigned node, unsigned flits, Tick at) {
    Port& port = ports_[node];
    const std::uint64_t last = take(port.injection, port.width, clock_.ceil(at).n, flits);
    return Cycles{last - ((flits - 1) >> port.width)} + hop_;
  }
  /// Books the arrival of a packet that was ready at `at` and whose head reaches the port of `node` in cycle `head`.
  Arrival arrive(unsigned node, unsigned flits, Tick at, Cycles head) {
    Port& port = ports_[node];
    const std::uint64_t last = std::max(take(port.ejection, port.width, head.n, flits), head.n + (flits - 1));
    const Tick arrival = clock_.ticks({last + 1});
    return {arrival, arrival - at - clock_.ticks(hop_ + Cycles{flits})};
  }
  /// Time that a packet, ready at `at`, waited for its injection port. `head`: depart()'s result.
  Tick injection_wait(Tick at, Cycles head) const { return clock_.ticks(head - hop_) - at; }
  /// Inverse of injection_wait(): cycle in which the head of a packet that was ready at `at` and waited for `injection` reaches
  /// the receiver's port.
  Cycles head(Tick at, Tick injection) const { return clock_.starting_at(at + injection) + hop_; }
  void retire(Tick horizon) { horizon_ = clock_.floor(horizon).n; }
  void reset() {
    horizon_ = 0;
    for (Port& port : ports_) {
      port.injection.reset();
      port.ejection.reset();
    }
  }

 private:
  struct Port {
    SlotCalendar injection;  ///< 2^width slots per cycle
    SlotCalendar ejection;   ///< likewise
    unsigned width = 0;      ///< logarithm of the flits per cycle
  };

  /// Books `flits` slots of a port with 2^width slots per cycle and returns the cycle of the last one. Drops past bookings.
  std::uint64_t take(SlotCalendar& port, unsigned width, std::uint64_t not_before, unsigned flits) const {
    port.retire(horizon_ << width);
    return port.take(not_before << width, flits) >> width;
  }

  Clock clock_;
  Cycles hop_;                 // cycles from injection port to ejection port
  std::uint64_t horizon_ = 0;  // last horizon of retire(), in cycles
  std::vector<Port> ports_;
};

}  // namespace lacuna
