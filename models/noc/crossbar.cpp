#include "models/noc/crossbar.h"

#include <utility>

namespace lacuna {

Crossbar::Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                   AddressRoutes routes)
    : Fabric(module_name, parameters, source_count, std::move(routes)),
      clock_(parameters.clock),
      hop_(parameters.hop_latency.n),
      source_ports_(source_count),
      destination_ports_(destinations.size()) {}

Fabric::Traversal Crossbar::traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
  const bool request = network == VirtualNetwork::request;
  SlotCalendar& injection = (request ? source_ports_[source] : destination_ports_[destination]).injection;
  SlotCalendar& ejection = (request ? destination_ports_[destination] : source_ports_[source]).ejection;
  // When the head leaves, and the last flit is there.
  const std::uint64_t leaves = injection.take(clock_.ceil(at).n, flits) - (flits - 1);
  const std::uint64_t there = ejection.take(leaves + hop_, flits);
  const Tick arrival = clock_.ticks({there + 1});
  return {arrival, arrival - at - clock_.ticks({hop_ + flits})};
}

void Crossbar::retire(Tick horizon) {
  const std::uint64_t cycle = clock_.floor(horizon).n;
  for (auto* ports : {&source_ports_, &destination_ports_}) {
    for (Port& port : *ports) {
      port.injection.retire(cycle);
      port.ejection.retire(cycle);
    }
  }
}

void Crossbar::reset() {
  Fabric::reset();
  for (auto* ports : {&source_ports_, &destination_ports_}) {
    for (Port& port : *ports) {
      port.injection.reset();
      port.ejection.reset();
    }
  }
}

}  // namespace lacuna
