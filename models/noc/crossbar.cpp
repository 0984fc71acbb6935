#include "models/noc/crossbar.h"

#include <utility>

namespace lacuna {

Crossbar::Crossbar(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                   AddressRoutes routes)
    : Fabric(module_name, parameters, source_count, std::move(routes)),
      clock_(parameters.clock),
      hop_(parameters.hop_latency.n),
      ports_(nodes()) {}

Fabric::Traversal Crossbar::transfer(unsigned from, unsigned to, VirtualNetwork, unsigned flits, Tick at) {
  // When the head leaves, and the last flit is there.
  const std::uint64_t leaves = ports_[from].injection.take(clock_.ceil(at).n, flits) - (flits - 1);
  const std::uint64_t there = ports_[to].ejection.take(leaves + hop_, flits);
  const Tick arrival = clock_.ticks({there + 1});
  return {arrival, arrival - at - clock_.ticks({hop_ + flits})};
}

void Crossbar::retire(Tick horizon) {
  const std::uint64_t cycle = clock_.floor(horizon).n;
  for (Port& port : ports_) {
    port.injection.retire(cycle);
    port.ejection.retire(cycle);
  }
}

void Crossbar::reset() {
  Fabric::reset();
  for (Port& port : ports_) {
    port.injection.reset();
    port.ejection.reset();
  }
}

}  // namespace lacuna
