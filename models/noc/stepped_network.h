// Network of routers that are simulated cycle by cycle (models/noc/routers.h). The arrival time of a packet depends on the
// packets that it contends with, and is known only after the arrival.
//
// Packets are therefore launched, and advance_to() returns their arrivals later. A client that waits for arrivals must not
// advance time by more than lookahead() in one step (models/gpu/memory_phase.h).
//
// send(), carry() and the sockets are synchronous, for the few clients that need an immediate result (command processor, SDMA
// engines). Synchronous packets load the routers as all others do, but the returned time is that of an idle network in which
// synchronous packets contend only with each other, at the injection and ejection ports.
#pragma once

#include <vector>

#include "models/noc/network.h"
#include "models/noc/node_ports.h"
#include "models/noc/routers.h"

namespace lacuna {

class SteppedNetwork : public Network {
 public:
  struct Arrival {
    std::uint32_t tag;
    Tick ready;  ///< time at which the packet was ready to depart
    Traversal traversal;
  };

  /// Throws std::invalid_argument if shape or placement is invalid, or for the same reasons as Routers.
  SteppedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                 AddressRoutes routes, const FabricGuests& guests = {});
  SteppedNetwork* stepped() override { return this; }
  void reset() override;
  const OutputFlits& output(unsigned output) const override { return routers_.output(output); }

  /// Sends a packet as carry() does, but leaves its counting to count_arrival(). `tag`: identifies the packet in its Arrival;
  /// any value except kSynchronous. A packet that is ready before the time of the last advance_to() departs at that time.
  void launch(const Ends& ends, VirtualNetwork network, unsigned flits, Tick at, std::uint32_t tag);
  /// Simulates up to `end`. Appends to `arrived` the packets that have left their last switch, in the order of arrival, which
  /// is up to lookahead() later.
  void advance_to(Tick end, std::vector<Arrival>& arrived);
  /// Counts a packet of launch() that has arrived.
  void count_arrival(const Arrival& arrival, const Ends& ends, VirtualNetwork network, unsigned flits) {
    count_carried(arrival.traversal, ends, network, flits, arrival.ready);
  }
  /// Time of the next event of the routers; 0 if advance_to() would return an arrival immediately; kNever if no launched packet
  /// is in flight.
  Tick next() const;
  /// Minimum time from advance_to()'s `end` to the arrival of a packet that the call has not returned.
  static Tick lookahead(const FabricParameters& parameters) {
    return parameters.clock.period() * (parameters.router_latency.n + parameters.interface_latency.n - 2);
  }

 private:
  /// Tag of packets of transfer(), whose arrivals are not returned.
  static constexpr std::uint32_t kSynchronous = ~std::uint32_t{0};

  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  void retire(Tick horizon) override;
  void send_to_routers(unsigned from, unsigned to, VirtualNetwork network, unsigned alternative, unsigned flits, Tick at,
                       std::uint32_t tag);
  void step(std::uint64_t until);

  Routers routers_;
  NodePorts ports_;                           // ports, booked only by the packets of transfer()
  std::vector<Routers::Delivery> delivered_;  // deliveries that advance_to() has not returned yet
  std::size_t launched_ = 0;                  // number of launched packets in flight
};

}  // namespace lacuna
