// The ports of nodes whose packets meet nowhere else: where a packet enters the fabric and where it leaves it.
//
// A port carries one flit a cycle. The head of a packet reaches the ejection port `hop` cycles after it left the injection port
// (cut-through); virtual networks share both. The two ends of a packet's path may belong to different threads of the host:
// depart() uses the sender's node alone, arrive() the receiver's.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/slot_calendar.h"
#include "models/common/time/units.h"

namespace lacuna {

class NodePorts {
 public:
  /// When a packet's last flit has arrived, and how much of the time since it was ready it waited.
  struct Arrival {
    Tick at;
    Tick waiting;
  };

  NodePorts(Clock clock, Cycles hop, unsigned nodes) : clock_(clock), hop_(hop.n), ports_(nodes) {}

  /// A packet that is ready at `at` leaves a node. Returns when its head reaches the receiver's port.
  Cycles depart(unsigned node, unsigned flits, Tick at) {
    return {current(ports_[node].injection).take(clock_.ceil(at).n, flits) - (flits - 1) + hop_};
  }
  /// A packet that was ready to leave at `at` and whose head reaches the port of `node` in cycle `head`.
  Arrival arrive(unsigned node, unsigned flits, Tick at, Cycles head) {
    const Tick arrival = clock_.ticks({current(ports_[node].ejection).take(head.n, flits) + 1});
    return {arrival, arrival - at - clock_.ticks({hop_ + flits})};
  }
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

  // A port forgets when it is booked next: most ports are idle between two calls of retire().
  SlotCalendar& current(SlotCalendar& port) const {
    port.retire(horizon_);
    return port;
  }

  Clock clock_;
  std::uint64_t hop_;  // cycles
  std::uint64_t horizon_ = 0;
  std::vector<Port> ports_;
};

}  // namespace lacuna
