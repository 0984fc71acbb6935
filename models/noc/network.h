// Network of switches: a packet passes the switches that its topology names, one flit a cycle through each input and output.
//
// Unloaded time of a packet of F flits over D links:
//   interface_latency + (D + 1) router_latency + D link_latency + F - 1 cycles
//
// What is common to the two kinds of `noc.routers`, which tell differently what packets do to each other:
//   booked   models/noc/booked_network.h: a packet's way is booked when it is sent, behind those sent before it
//   stepped  models/noc/stepped_network.h: routers go from cycle to cycle and arbitrate among what they have
//
// Where the routing leaves a choice (o1turn), it is made by a hash of the node and the number of its packet: each way as often
// as the other, the same in every run, and not in step with a program that alternates between two addresses.
#pragma once

#include <memory>
#include <vector>

#include "models/noc/fabric.h"
#include "models/noc/topology.h"

namespace lacuna {

class Network : public Fabric {
 public:
  void describe(StatisticsGroup& group) const override;
  /// A packet over n links passes n + 1 switches.
  void describe_energy(EnergyMeter& meter, const NocEnergy& energy) const override;

  const Topology& topology() const { return *topology_; }
  std::vector<unsigned> path_nodes(unsigned from, unsigned to, unsigned alternative = 0) const override;
  unsigned path_alternatives() const override { return topology_->alternatives(); }
  /// Flits that an output of a switch has carried.
  virtual const std::uint64_t& output_flits(unsigned output) const = 0;
  void reset() override;

 protected:
  /// std::invalid_argument when shape or placement makes no sense.
  Network(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes,
          const FabricGuests& guests);

  const Clock& clock() const { return clock_; }
  /// The way of a node's next packet.
  unsigned choose_alternative(unsigned from);
  /// Cycles of a packet on an idle network.
  std::uint64_t unloaded(unsigned links, unsigned flits) const {
    const FabricParameters& p = parameters();
    return p.interface_latency.n + (links + 1) * p.router_latency.n + links * p.link_latency.n + flits - 1;
  }

 private:
  const std::unique_ptr<const Topology> topology_;
  const Clock clock_;
  std::vector<std::uint64_t> chosen_;  // by node: packets for which an alternative was chosen
};

}  // namespace lacuna
