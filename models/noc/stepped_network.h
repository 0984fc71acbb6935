// Network of routers that are stepped cycle by cycle (models/noc/routers.h). The time at which a packet arrives depends on the
// packets that it meets, and is known only when it has arrived.
//
// Packets are therefore launched, and advance() returns their arrivals. A client that waits for them must not advance time by
// more than lookahead() in one step (models/gpu/memory_phase.h).
//
// send(), carry() and the sockets answer within the call, for the few clients that need it (command processor, SDMA engines):
// their packets load the routers as all others do, but the answer is the time of an idle network in which they meet only each
// other, where they enter it and where they leave it.
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
    Tick ready;  ///< to leave
    Traversal traversal;
  };

  /// std::invalid_argument when shape or placement makes no sense, or as Routers.
  SteppedNetwork(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                 AddressRoutes routes, const FabricGuests& guests = {});
  SteppedNetwork* stepped() override { return this; }
  void reset() override;
  const std::uint64_t& output_flits(unsigned output) const override { return routers_.output_flits(output); }

  /// A packet as of carry(), with a `tag` of the caller's, none of kUntold. Ready before the time of the last advance(), it
  /// leaves then.
  void launch(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at, std::uint32_t tag);
  /// Goes on until `end`. Adds the packets that have left their last switch, in the order of their arrival, which lies up to
  /// lookahead() behind that.
  void advance_to(Tick end, std::vector<Arrival>& arrived);
  /// Counts a packet of launch() that has arrived.
  void count_arrival(const Arrival& arrival, unsigned source, unsigned destination, unsigned flits) {
    count_carried(arrival.traversal, source, destination, flits, arrival.ready);
  }
  /// When the next launched packet has something to do; kNever: none is under way.
  Tick next() const;
  /// What advance_to() has not told of yet arrives no earlier than this behind its `end`.
  static Tick lookahead(const FabricParameters& parameters) {
    return parameters.clock.period() * (parameters.router_latency.n + parameters.interface_latency.n - 2);
  }

 private:
  static constexpr std::uint32_t kUntold = ~std::uint32_t{0};

  Traversal transfer(unsigned from, unsigned to, VirtualNetwork network, unsigned flits, Tick at) override;
  void retire(Tick horizon) override;
  void send_to_routers(unsigned from, unsigned to, VirtualNetwork network, unsigned alternative, unsigned flits, Tick at,
                       std::uint32_t tag);
  void step(std::uint64_t until);

  Routers routers_;
  NodePorts ports_;                           // of packets of transfer()
  std::vector<Routers::Delivery> delivered_;  // and not told yet
  std::size_t launched_ = 0;                  // packets under way
};

}  // namespace lacuna
