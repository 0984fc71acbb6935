#include "models/noc/network.h"

#include <algorithm>
#include <utility>

namespace lacuna {

Network::Network(sc_core::sc_module_name module_name, const FabricParameters& parameters, unsigned source_count,
                 AddressRoutes routes, const FabricGuests& guests)
    : Fabric(module_name, parameters, source_count, std::move(routes), guests),
      topology_(parameters.topology->make(parameters)),
      clock_(parameters.clock),
      chosen_(topology_->alternatives() > 1 ? topology_->nodes() : 0) {}

std::vector<unsigned> Network::path_nodes(unsigned from, unsigned to, unsigned alternative) const {
  return topology_->path_nodes(from, to, alternative);
}

unsigned Network::choose_alternative(unsigned from) {
  if (topology_->alternatives() == 1) return 0;
  // SplitMix64's finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014); the seed
  // gives each node a different sequence.
  std::uint64_t z = (std::uint64_t{from} << 40) + ++chosen_[from] * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return static_cast<unsigned>(z >> 63);
}

void Network::reset() {
  Fabric::reset();
  std::fill(chosen_.begin(), chosen_.end(), 0);
}

void Network::describe(StatisticsGroup& group) const {
  Fabric::describe(group);
  StatisticsGroup& links = group.group("links");
  StatisticsGroup& ejection = group.group("ejection");
  for (unsigned output = 0; output < topology_->outputs(); ++output) {
    (topology_->is_link(output) ? links : ejection)
        .add(topology_->output_name(output), output_flits(output), "flits carried", "flits");
  }
}

void Network::describe_energy(EnergyMeter& meter, const NocEnergy& energy) const {
  Fabric::describe_energy(meter, energy);
  meter.add("noc_router", "flit", statistics().weighted_hops, energy.router * parameters().width, DataKind::links);
}

}  // namespace lacuna
