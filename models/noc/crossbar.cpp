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
  const std::uint64_t leaves = injection.first_run(clock_.ceil(at).n, flits);
  injection.book(leaves, flits);
  const std::uint64_t enters = ejection.first_run(leaves + hop_, flits);
  ejection.book(enters, flits);
  const Tick arrival = clock_.ticks({enters + flits});
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
