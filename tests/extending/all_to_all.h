// A topology (docs/guide/extending.md) with a link from every node to every other node.
#pragma once

#include <stdexcept>
#include <string>

#include "models/noc/fabric_parameters.h"
#include "models/noc/topology.h"

namespace lacuna {

class AllToAllTopology final : public Topology {
 public:
  /// Throws std::invalid_argument for 0 or more than 256 nodes.
  explicit AllToAllTopology(unsigned nodes) : Topology(nodes, nodes * nodes) {
    if (nodes == 0 || nodes > 256) throw std::invalid_argument("all to all: 1 to 256 nodes, not " + std::to_string(nodes));
  }
  std::string output_name(unsigned output) const override {
    const std::string to = is_link(output) ? "to_node" + std::to_string(output % nodes()) : "eject";
    return "node" + std::to_string(output / nodes()) + '_' + to;
  }
  bool is_link(unsigned output) const override { return output / nodes() != output % nodes(); }
  std::size_t memory() const override { return sizeof *this; }

 private:
  /// Input f of a node's switch belongs to the link from node f, output t to the link to node t; if f or t is the node itself,
  /// they are the node's own ports.
  const SwitchPass* write_path(unsigned from, unsigned to, unsigned /*alternative*/, SwitchPass* next) const override {
    const auto pass = [this](unsigned node, unsigned f, unsigned t) {
      return make_pass(node * nodes() + f, node * nodes() + t);
    };
    if (from != to) *next++ = pass(from, from, to);
    *next++ = pass(to, from, to);
    return next;
  }
};

inline constexpr FabricTopology kAllToAll{"all_to_all", "columns x rows of routers, each linked to all others",
                                          [](const FabricParameters& p) -> std::unique_ptr<const Topology> {
                                            return std::make_unique<AllToAllTopology>(p.columns * p.rows);
                                          }};

}  // namespace lacuna
