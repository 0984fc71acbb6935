// Injection and ejection ports of nodes, for fabrics in which packets contend nowhere else.
//
// A port carries one flit per cycle. The head of a packet reaches the ejection port `hop` cycles after it left the injection
// port (cut-through); virtual networks share both ports. The two ends of a packet's path may belong to different host threads:
// depart() accesses the sender's node only, arrive() the receiver's.
#pragma once

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

  /// Books the departure of a packet that is ready at `at`. Returns the cycle in which the head reaches the receiver's port.
  Cycles depart(unsigned node, unsigned flits, Tick at) {
    return Cycles{current(ports_[node].injection).take(clock_.ceil(at).n, flits) - (flits - 1)} + hop_;
  }
  /// Books the arrival of a packet that was ready at `at` and whose head reaches the port of `node` in cycle `head`.
  Arrival arrive(unsigned node, unsigned flits, Tick at, Cycles head) {
    const Tick arrival = clock_.ticks({current(ports_[node].ejection).take(head.n, flits) + 1});
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
    SlotCalendar injection;
    SlotCalendar ejection;
  };

  // Drops past bookings when a port is booked.
  SlotCalendar& current(SlotCalendar& port) const {
    port.retire(horizon_);
    return port;
  }

  Clock clock_;
  Cycles hop_;                 // cycles from injection port to ejection port
  std::uint64_t horizon_ = 0;  // last horizon of retire(), in cycles
  std::vector<Port> ports_;
};

}  // namespace lacuna
