// Crossbar: every node reaches every other in one hop.
//
// Unloaded time of a packet of F flits: hop_latency + F cycles. Each node has one injection port and one ejection port; virtual
// networks share them (models/noc/node_ports.h). Those of a destination's node carry `destination_flits` per cycle.
#pragma once

#include "models/noc/fabric.h"
#include "models/noc/node_ports.h"

namespace lacuna {

class Crossbar : public Fabric {
 public:
  Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
           const FabricGuests& guests = {})
      : Fabric(module_name, parameters, source_count, std::move(routes), guests),
        ports_(Clock(parameters.clock), parameters.hop_latency, nodes()) {
    for (unsigned i = 0; i < destinations.size(); ++i) ports_.widen(destination_node(i), parameters.destination_flits);
  }

  NodePorts* ports() override { return &ports_; }
  void reset() override {
    Fabric::reset();
    ports_.reset();
  }

 private:
  Traversal transfer(unsigned from, unsigned to, VirtualNetwork, unsigned flits, Tick at) override {
    const Cycles head = ports_.depart(from, flits, at);
    const NodePorts::Arrival arrival = ports_.arrive(to, flits, at, head);
    return {.arrival = arrival.at, .waiting = arrival.waiting, .injection = ports_.injection_wait(at, head)};
  }
  void retire(Tick horizon) override { ports_.retire(horizon); }

  NodePorts ports_;
};

}  // namespace lacuna
