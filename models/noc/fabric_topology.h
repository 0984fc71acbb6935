// Topologies that configurations can select (parameter noc.topology).
//
// Each topology has a line in models/noc/topology/topologies.cpp; each topology with routers has a file in that folder.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lacuna {

struct FabricParameters;
class Topology;

struct FabricTopology {
  /// Creates the topology. Throws std::invalid_argument if the parameters describe no valid shape.
  using Make = std::unique_ptr<const Topology> (*)(const FabricParameters&);

  constexpr FabricTopology(std::string_view topology_name, std::string_view meaning, Make maker)
      : name(topology_name), description(meaning), make(maker) {}
  FabricTopology(const FabricTopology&) = delete;
  FabricTopology& operator=(const FabricTopology&) = delete;

  /// Whether packets pass routers; a crossbar (models/noc/crossbar.h) has no routers.
  bool has_routers() const { return make != nullptr; }

  std::string_view name;         ///< name in configurations
  std::string_view description;  ///< how nodes are connected
  Make make;                     ///< factory; null: no routers

  // Topologies that C++ code refers to by name.
  static const FabricTopology crossbar;
  static const FabricTopology mesh;
  static const FabricTopology butterfly;
};

/// All topologies that a configuration can select.
std::span<const FabricTopology* const> fabric_topologies();
/// Names of the topologies with routers, "mesh or butterfly", for error messages.
std::string routed_topologies();

}  // namespace lacuna
