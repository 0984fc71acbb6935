// The list of topologies. The parameter noc.topology, its help text, reference page and error messages are generated from this
// list.
#include <array>

#include "models/noc/fabric_topology.h"
#include "models/noc/topology.h"

namespace lacuna {
namespace {

constexpr std::array kTopologies{
    &FabricTopology::crossbar,
    &FabricTopology::mesh,
    &FabricTopology::butterfly,
};

}  // namespace

constinit const FabricTopology FabricTopology::crossbar{"crossbar", "one hop between any two nodes, without routers", nullptr};

std::span<const FabricTopology* const> fabric_topologies() { return kTopologies; }

std::string routed_topologies() {
  std::string names;
  for (const FabricTopology* topology : kTopologies) {
    if (!topology->has_routers()) continue;
    if (!names.empty()) names += " or ";
    names += topology->name;
  }
  return names;
}

}  // namespace lacuna
