#include "models/noc/crossbar.h"

#include <utility>

namespace lacuna {

Crossbar::Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                   AddressRoutes routes)
    : Fabric(module_name, parameters, source_count, std::move(routes)),
      cycle_(parameters.clock.period()),
      hop_(cycle_ * parameters.hop_latency.n),
      source_ports_(source_count),
      destination_ports_(destinations.size()) {}

Fabric::Traversal Crossbar::traverse(VirtualNetwork network, unsigned source, unsigned destination, unsigned flits, Tick at) {
  const bool request = network == VirtualNetwork::request;
  Calendar& injection = (request ? source_ports_[source] : destination_ports_[destination]).injection;
  Calendar& ejection = (request ? destination_ports_[destination] : source_ports_[source]).ejection;
  const Tick length = cycle_ * flits;
  const Tick leaves = injection.reserve(at, length);
  const Tick reaches = leaves + hop_;
  const Tick enters = ejection.reserve(reaches, length);
  return {enters + length, (leaves - at) + (enters - reaches)};
}

void Crossbar::retire(Tick horizon) {
  for (auto* ports : {&source_ports_, &destination_ports_}) {
    for (Port& port : *ports) {
      port.injection.retire(horizon);
      port.ejection.retire(horizon);
    }
  }
}

void Crossbar::reset() {
  for (auto* ports : {&source_ports_, &destination_ports_}) {
    for (Port& port : *ports) {
      port.injection.reset();
      port.ejection.reset();
    }
  }
}

}  // namespace lacuna
