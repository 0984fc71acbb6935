#include "platform/picture/device_mesh.h"

#include <string>

#include "models/noc/network.h"
#include "models/noc/topology/mesh.h"

namespace lacuna {
namespace {

PortFlits of_output(const Network& network, unsigned node, MeshTopology::Output output) {
  const OutputFlits& flits = network.output(MeshTopology::output(node, output));
  return {.requests = flits.all - flits.replies, .replies = flits.replies};
}

}  // namespace

std::optional<MeshMap> mesh_map(const GpuDevice& device) {
  const auto* const network = dynamic_cast<const Network*>(&device.fabric());
  if (network == nullptr) return std::nullopt;
  const auto* const mesh = dynamic_cast<const MeshTopology*>(&network->topology());
  if (mesh == nullptr) return std::nullopt;
  MeshMap map{.columns = mesh->columns(), .nodes = std::vector<MeshMap::Node>(mesh->nodes()), .cores = {}};
  const GpuParameters& gpu = device.parameters().gpu;
  const unsigned cores = gpu.shader_arrays * gpu.cus_per_shader_array;
  for (unsigned core = 0; core < cores; ++core) {
    map.cores.push_back(network->source_node(core / gpu.cus_per_l1v));
    std::string& label = map.nodes[map.cores.back()].label;
    if (label.empty()) label = std::to_string(core);
  }
  for (unsigned bank = 0; bank < gpu.memory_partitions; ++bank)
    map.nodes[network->destination_node(device.first_l2() + bank)] = {.label = 'L' + std::to_string(bank), .is_cache = true};
  return map;
}

MeshUse carried(const GpuDevice& device, const MeshMap& map) {
  const auto& network = dynamic_cast<const Network&>(device.fabric());
  MeshUse use;
  use.nodes.resize(map.nodes.size());
  for (unsigned node = 0; node < map.nodes.size(); ++node) {
    use.nodes[node][MeshUse::east] = of_output(network, node, MeshTopology::kEast);
    use.nodes[node][MeshUse::west] = of_output(network, node, MeshTopology::kWest);
    use.nodes[node][MeshUse::north] = of_output(network, node, MeshTopology::kNorth);
    use.nodes[node][MeshUse::south] = of_output(network, node, MeshTopology::kSouth);
    use.nodes[node][MeshUse::ejection] = of_output(network, node, MeshTopology::kEject);
  }
  return use;
}

}  // namespace lacuna
