// Topologies as configurations select them: the table of names that noc.topology is generated from.
//
// A topology is a file of models/noc/topology, and a line in topologies.cpp there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lacuna {

struct FabricParameters;
class Topology;

struct FabricTopology {
  /// std::invalid_argument when parameters describe a shape that does not exist.
  using Make = std::unique_ptr<const Topology> (*)(const FabricParameters&);

  constexpr FabricTopology(std::string_view topology_name, std::string_view meaning, Make maker)
      : name(topology_name), description(meaning), make(maker) {}
  FabricTopology(const FabricTopology&) = delete;
  FabricTopology& operator=(const FabricTopology&) = delete;

  /// Whether packets pass routers. A crossbar (models/noc/crossbar.h) has none.
  bool has_routers() const { return make != nullptr; }

  std::string_view name;         ///< as in configurations
  std::string_view description;  ///< how nodes are connected
  Make make;                     ///< null: no routers

  // Those that C++ code names.
  static const FabricTopology crossbar;
  static const FabricTopology mesh;
  static const FabricTopology butterfly;
};

/// All topologies that a configuration can select.
std::span<const FabricTopology* const> fabric_topologies();
/// Names of those that have routers, "mesh or butterfly": for error messages.
std::string routed_topologies();

}  // namespace lacuna
