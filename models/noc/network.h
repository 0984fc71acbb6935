// Network of switches: the topology determines the switches that a packet passes; each input and output passes one flit per
// cycle.
//
// Unloaded time of a packet of F flits over D links:
//   interface_latency + (D + 1) router_latency + D link_latency + F - 1 cycles
//
// Common base of the two `noc.routers` models, which differ in how they model contention:
//   booked   models/noc/booked_network.h: a packet's path is booked when it is sent, after the packets sent before it
//   stepped  models/noc/stepped_network.h: routers are simulated cycle by cycle and arbitrate among the waiting packets
//
// If the routing leaves a choice (o1turn), a hash of the node and the packet's number selects the path: both paths are equally
// frequent, every run chooses the same paths, and the choices are not correlated with a program that alternates between two
// addresses.
#pragma once

#include <memory>
#include <vector>

#include "models/noc/fabric.h"
#include "models/noc/output_flits.h"
#include "models/noc/topology.h"

namespace lacuna {

class Network : public Fabric {
 public:
  void describe(StatisticsGroup& group) const override;
  /// Registers blocks noc_router and noc_link: a packet over n links passes n + 1 switches.
  void describe_energy(EnergyMeter& meter, const NocEnergy& energy) const override;

  const Topology& topology() const { return *topology_; }
  std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const override;
  unsigned path_alternatives() const override { return topology_->alternatives(); }
  virtual const OutputFlits& output(unsigned output) const = 0;
  /// Number of flits that an output of a switch has carried.
  const std::uint64_t& output_flits(unsigned number) const { return output(number).all; }
  void reset() override;

 protected:
  /// Throws std::invalid_argument if shape or placement is invalid.
  Network(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
          const FabricGuests& guests);

  const Clock& clock() const { return clock_; }
  /// Chooses the path of a node's next packet.
  unsigned choose_alternative(unsigned from);
  /// Latency of a packet in an idle network, in cycles.
  std::uint64_t unloaded(unsigned links, unsigned flits) const {
    const FabricParameters& p = parameters();
    return p.interface_latency.n + (links + 1) * p.router_latency.n + links * p.link_latency.n + flits - 1;
  }

 private:
  const std::unique_ptr<const Topology> topology_;
  const Clock clock_;
  std::vector<std::uint64_t> chosen_;  // number of packets for which an alternative was chosen, by node
};

}  // namespace lacuna
