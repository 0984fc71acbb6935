// Network of switches: a packet passes the switches that its topology names, one flit a cycle through each input and output.
//
// Unloaded time of a packet of F flits over D links:
//   interface_latency + (D + 1) router_latency + D link_latency + F - 1 cycles
// Flits of a packet keep their order; those of different packets share a link cycle by cycle, as virtual channels let them.
//
// Where the throughput goes: a separable switch allocator grants an input to one of its virtual channels before it knows
// whether the output will be granted too, and its round-robin arbiters move on only after a grant. A flit whose output is taken
// therefore keeps bidding, and costs its input cycles in which another packet could have moved (BookSim2's separable
// input-first allocator, and iSLIP: McKeown 1999, do the same). The model charges these lost bids to the input. Buffers are not
// bounded except the queue at the injecting node; virtual networks have their own queue there and share the links.
#pragma once

#include <vector>

#include "models/common/calendar.h"
#include "models/common/slot_calendars.h"
#include "models/noc/fabric.h"
#include "models/noc/topology.h"

namespace lacuna {

class Network : public Fabric {
 public:
  /// std::invalid_argument when shape or placement makes no sense.
  Network(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count, AddressRoutes routes);
  void reset() override;
  void describe(StatisticsGroup& group) const override;

  const Topology& topology() const { return topology_; }
  unsigned source_node(unsigned source) const { return source_nodes_[source]; }
  unsigned destination_node(unsigned destination) const { return destination_nodes_[destination]; }
  /// Flits that an output of a switch has carried.
  std::uint64_t output_flits(unsigned output) const { return output_flits_[output]; }

  /// Both are public for those who load the network alone.
  Traversal traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) override;
  void retire(Tick horizon) override;

 private:
  void place(unsigned source_count, unsigned destination_count);

  const Topology topology_;
  const Clock clock_;
  const std::uint64_t router_;  // cycles
  const std::uint64_t link_;
  const std::uint64_t interface_;
  std::vector<unsigned> source_nodes_;
  std::vector<unsigned> destination_nodes_;
  SlotCalendars ports_;               // of switches: inputs, then outputs
  std::vector<PoolCalendar> queues_;  // by node * 2 + virtual network
  std::vector<std::uint64_t> output_flits_;
  std::vector<std::uint64_t> arrivals_;  // of the flits of the packet on its way, when they are scattered
};

}  // namespace lacuna
